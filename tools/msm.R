# tools/msm.R TABLE.csv [MODEL.json...]: a 3-state fit by msm, timed, from a start near the truth.
suppressMessages(library(msm))
d <- read.csv(commandArgs(TRUE)[1])
d$y <- d$latency_seconds
d$id <- 1
q0 <- rbind(c(0, 4e-4, 1e-4), c(8e-4, 0, 8e-4), c(3e-4, 5e-4, 0))
h <- list(hmmLNorm(-5.6, 0.1), hmmLNorm(-5.0, 0.1), hmmLNorm(-4.4, 0.4))
used <- system.time(
  m <- msm(y ~ t_seconds, subject = id, data = d, qmatrix = q0, hmodel = h,
           initprobs = rep(1 / 3, 3), control = list(maxit = 500, reltol = 1e-10))
)
cat(sprintf("R msm, one start near the truth, %d observations: %.3f s of processor time, loglik %.6f\n",
            nrow(d), used[["user.self"]], -m$minus2loglik / 2))
