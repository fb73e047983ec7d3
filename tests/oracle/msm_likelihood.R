# msm_likelihood.R TABLE.csv: msm's log-likelihood at the parameters of examples/state/titan.json.
suppressMessages(library(msm))
d <- read.csv(commandArgs(TRUE)[1])
d$id <- 1
q <- rbind(c(0, 0.000417, 0.000139), c(0.000833, 0, 0.000833), c(0.000278, 0.000556, 0))
h <- list(hmmLNorm(-5.5728, 0.1), hmmLNorm(-5.0672, 0.09), hmmLNorm(-4.4228, 0.4))
m <- msm(latency_seconds ~ t_seconds, subject = id, data = d, qmatrix = q, hmodel = h,
         initprobs = rep(1 / 3, 3), fixedpars = TRUE)
cat(sprintf("%.10f\n", -m$minus2loglik / 2))
