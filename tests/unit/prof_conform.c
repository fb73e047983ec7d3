/* Real programs do the same with and without the library: output, exit status, files left behind.
 * And a profile that cannot be written costs the job nothing but a warning. */
#include <fcntl.h>
#include <grp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "base/file.h"
#include "prof_fixture.h"

/* Two ranks of the small job of prof_mpi.c; in sight of the tests' programs. Without Open MPI's
 * TCP, which prints its process numbers where it finds no interface that it likes. */
#define MPI_JOB(run, program)                                                                   \
    run " $TESTS/" program,                                                                     \
        "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; "                    \
        "export OMPI_MCA_btl=^tcp; " run " -n 2 $TESTS/" program " ./f; echo $?; stat -c %s f", \
        4 << 20

/* Each runs in an empty directory; what it prints and the files it leaves are compared. `bytes`:
 * how much storage it writes at least, so that a library that sees nothing is found out. */
static const struct program {
    const char *needs, *script;
    uint64_t bytes;
} programs[] = {
    {"dd",
     "dd if=/dev/zero bs=4096 count=300 2>/dev/null | tr '\\0' x > a; cp a b; split -b 100k b part;"
     " cat part* | md5sum; sort --parallel=2 a -o c; tac c | wc; truncate -s 7 c; stat -c %s a c;"
     " ln a d; mv d e; rm part*; ls; cmp a nothing; echo $?",
     3 * 1228800},
    /* AddressSanitizer of GCC wants to be the first library, unless this option says otherwise. */
    {"gcc",
     "printf '#include <stdio.h>\\nint main(int c, char **v){FILE *f = fopen(\"a\", \"w\"); char "
     "b[9]; "
     "for (int i = 0; i < 100000; i++) fputs(\"0123456789\", f); fclose(f); return c > 1 && "
     "b[c + 7];}\\n' > a.c; gcc -w -fsanitize=address -o p a.c 2>/dev/null || gcc -w -o p a.c;"
     " ./p; echo $?; wc -c a; ./p x 2>&1 | grep -o 'AddressSanitizer: stack-buffer-overflow'; rm p",
     1000000},
    {"sqlite3",
     "sqlite3 x.db 'PRAGMA journal_mode=WAL; CREATE TABLE t(a,b); WITH RECURSIVE c(n) AS (SELECT 1 "
     "UNION ALL"
     " SELECT n+1 FROM c WHERE n<3000) INSERT INTO t SELECT n, hex(n*n) FROM c;"
     " SELECT count(*), sum(a), max(b) FROM t; PRAGMA integrity_check;'",
     50000},
    {"git",
     "export GIT_AUTHOR_DATE=2001-01-01T00:00:00Z GIT_COMMITTER_DATE=2001-01-01T00:00:00Z "
     "GIT_CONFIG_GLOBAL=/dev/null"
     " GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b;"
     " git init -q -b main .; seq 20000 > f; git add f; git commit -qm one; seq 3 >> f; git commit "
     "-qam two;"
     " git log --format=%H; git fsck 2>&1; git gc -q; git status --short; git clone -q . copy; rm "
     "-rf .git;"
     " rm -rf copy/.git; ls copy",
     100000},
    {"python3",
     "python3 - <<'E'\n"
     "import os, subprocess, threading, multiprocessing, hashlib, mmap, tempfile\n"
     "open('a','wb').write(bytes(range(256))*1000)\n"
     "print(hashlib.md5(open('a','rb').read()).hexdigest())\n"
     "print(subprocess.run(['wc','-c','a'],capture_output=True,text=True).stdout)\n"
     "print(subprocess.check_output('cat a | md5sum',shell=True))\n"
     "def w(i): open('t%d'%i,'w').write(str(i)*1000)\n"
     "ts=[threading.Thread(target=w,args=(i,)) for i in range(8)]\n"
     "[t.start() for t in ts]; [t.join() for t in ts]\n"
     "with multiprocessing.get_context('fork').Pool(3) as p: print(p.map(abs,range(-5,0)))\n"
     "f=open('a','r+b'); m=mmap.mmap(f.fileno(),0); m[0:4]=b'abcd'; m.flush(); m.close()\n"
     "with tempfile.TemporaryFile() as t: t.write(b'x'*9); t.seek(0); print(t.read())\n"
     "r,wr=os.pipe(); os.write(wr,b'hello'); print(os.read(r,9)); print(os.stat('a').st_size)\n"
     "try: os.read(99,1)\n"
     "except OSError as e: print(e)\n"
     "E",
     256000},
    {"tar",
     "mkdir d; seq 5000 > d/x; cp d/x d/y; tar cf t.tar --mtime=@0 --owner=0 --group=0 --sort=name "
     "d; gzip -n < t.tar > t.gz;"
     " rm -r d; tar xf t.tar; md5sum d/x t.gz; seq 20 | xargs -P4 -I{} sh -c 'echo {} > o{}'; cat "
     "o* | sort -n | md5sum",
     50000},
    {"fio",
     "for e in psync pvsync2 mmap posixaio libaio io_uring; do"
     " fio --name=t --filename=f --size=256k --bs=16k --rw=randrw --verify=crc32c --ioengine=$e "
     "--randrepeat=1"
     " --output=/dev/null --fallocate=none --thread=0 2>/dev/null; echo $e $?; done; rm -f f "
     "*.state",
     200000},
    /* Files by libuv's threads, by system calls by number, and through rings. */
    {"node",
     "for u in 0 1; do UV_USE_IO_URING=$u node -e '\n"
     "const fs = require(\"fs\"), b = Buffer.alloc(1 << 20, \"x\");\n"
     "fs.writeFileSync(\"a\", b); fs.copyFileSync(\"a\", \"b\");\n"
     "(async () => { const f = await fs.promises.open(\"c\", \"w\");\n"
     "for (let i = 0; i < 8; i++) await f.write(b); await f.close();\n"
     "console.log((await fs.promises.stat(\"c\")).size, fs.readFileSync(\"b\").equals(b));\n"
     "const p = require(\"child_process\");\n"
     "console.log(p.execSync(\"wc -c < c\").toString(), p.spawnSync(\"sh\", [\"-c\", \"exit "
     "3\"]).status);\n"
     "})()'; echo $?; done",
     20 << 20},
    {"java",
     "cat > T.java <<'E'\n"
     "import java.nio.*; import java.nio.channels.*; import java.nio.file.*; import java.util.*;\n"
     "public class T { public static void main(String[] a) throws Exception {\n"
     "byte[] b = new byte[1 << 20]; Arrays.fill(b, (byte) 7); Files.write(Path.of(\"a\"), b);\n"
     "try (var c = FileChannel.open(Path.of(\"b\"), StandardOpenOption.CREATE, "
     "StandardOpenOption.WRITE);"
     " var d = FileChannel.open(Path.of(\"a\"))) { System.out.println(d.transferTo(0, b.length, "
     "c)); }\n"
     "System.out.println(Arrays.equals(b, Files.readAllBytes(Path.of(\"b\"))));\n"
     "System.out.println(new ProcessBuilder(\"sh\", \"-c\", \"exit 5\").start().waitFor()); } }\n"
     "E\n"
     "java T.java; echo $?; rm T.java",
     2 << 20},
    {"rsync",
     "mkdir s; seq 100000 > s/a; head -c 1M /dev/zero > s/b; ln -s a s/c; rsync -a s/ d; echo $?;"
     " seq 5 >> s/a; rsync -ac --delete s/ d; echo $?; rsync -a --inplace --no-whole-file s/ d;"
     " echo $?; rsync -a nothing d 2>/dev/null; echo $?; ls d; cmp s/a d/a; echo $?; rm -r s",
     (1 << 20) + 500000},
    {"unshare",
     "unshare -rmpf --mount-proc sh -c 'echo $$; head -c 1M /dev/zero > a; cp a b; ls; ps ax | wc "
     "-l' 2>&1; echo $?",
     0},
    /* Waits of all kinds: in groups, for those that stop and go on, in traps, with a limit of time.
     */
    {"bash",
     "sleep 0.6 & kill -STOP $!; sleep 0.1; grep -c 'State:.*T' /proc/$!/status; kill -CONT $!;"
     " wait $!; echo $?; trap 'echo usr' USR1; (sleep 0.7; kill -USR1 $$) & sleep 9 & s=$!;"
     " wait $s; echo $?; kill $s; wait $s 2>/dev/null; echo $?; (exit 4) & (exit 5) & wait;"
     " echo $?; timeout 0.1 sleep 3; echo $?;"
     " seq 3 | while read i; do sh -c \"exit $i\"; echo $?; done; false | true;"
     " echo ${PIPESTATUS[@]}; ( trap '' CHLD; true; echo $? )",
     0},
    {"python3",
     "python3 - <<'E'\n"
     "import os, signal, subprocess, sys, time\n"
     "ended = []\n"
     "signal.signal(signal.SIGCHLD, lambda *a: ended.append(os.waitpid(-1, os.WNOHANG)[1]))\n"
     "p = os.fork()\n"
     "if not p: os._exit(3)\n"
     "while not ended: time.sleep(0.01)\n"
     "signal.signal(signal.SIGCHLD, signal.SIG_DFL); print('chld', ended)\n"
     /* Closed, which waits: a shell that has written may not have ended yet. */
     "p = os.popen('echo a'); print(p.read(), p.close(), os.system('exit 2') >> 8)\n"
     "p = os.fork()\n"
     "if not p: os._exit(6)\n"
     "r = os.waitid(os.P_PID, p, os.WEXITED | os.WNOWAIT); print(r.si_status, os.waitpid(p, 0)[1] "
     ">> 8)\n"
     "try: os.waitpid(-1, 0)\n"
     "except ChildProcessError as e: print(e)\n"
     "signal.signal(signal.SIGALRM, lambda *a: None); signal.siginterrupt(signal.SIGALRM, True)\n"
     "os.closerange(3, 65536)\n"
     "open('a', 'w').write('x' * 100000); print(sorted(os.listdir('.')), "
     "len(os.listdir('/proc/self/fd')))\n"
     "os.execvp('sh', ['sh', '-c', 'wc -c < a'])\n"
     "E",
     100000},
    {"strace",
     "strace -f -o /dev/null sh -c 'head -c 100000 /dev/zero > a; cp a b; exit 6'; echo $?",
     100000},
    {MPI_JOB("mpirun.mpich", "prof-mpi-mpich")},
    {MPI_JOB("mpirun.openmpi", "prof-mpi-openmpi")},
    {"ior",
     "ior -a POSIX -w -r -k -F -b 1m -t 64k -i 2 -o f > /dev/null; echo $?; ior -a POSIX -w -W "
     "-G 5 -k -b 1m -t 256k -e -o g > /dev/null; echo $?",
     2 << 20},
};

enum { NPROGRAMS = sizeof programs / sizeof programs[0] };

static int run_shell(struct fixture *l, const char *script, const char *clock, const char *out)
{
    struct wr_str command = {0};
    int status;

    wr_str_addf(&command, "cd '%s' || exit 99; exec > '%s' 2>&1\n%s", l->data, out, script);
    char *argv[] = {(char *)"/bin/bash", (char *)"-c", command.s, NULL};

    if (clock) {
        struct prof_launch launch = {.argv = argv,
                                     .lib = l->lib,
                                     .dir = l->profiles,
                                     .job = "lab",
                                     .clock = clock,
                                     .slice_ns = 100000000,
                                     .files = 20,
                                     .callers = 4};
        struct wr_err err = {0};

        struct prof_hold hold;

        prof_hold_begin(&hold);
        assert_true(prof_launch(&launch, &hold, &status, &err));
        prof_hold_end(&hold);
    } else {
        pid_t pid = fork();

        if (!pid) {
            execv(argv[0], argv);
            _exit(99);
        }
        waitpid(pid, &status, 0);
        status = WEXITSTATUS(status);
    }
    wr_str_fini(&command);
    return status;
}

/* Names and contents of what is in the directory, then it is emptied. */
static void take_files(struct fixture *l, struct wr_str *to)
{
    struct wr_str command = {0};
    char line[512];

    /* The journal of a database and the times of a repository differ by nature. */
    wr_str_addf(
        &command,
        "cd '%s' && find . -type f ! -name '*.db*' ! -name '*.tar' | sort | xargs -r md5sum; "
        "rm -rf ./* ./.git",
        l->data);
    FILE *p = popen(command.s, "r");

    while (p && fgets(line, sizeof line, p))
        wr_str_add(to, line);
    pclose(p);
    wr_str_fini(&command);
}

static void take_output(const char *out, struct wr_str *to)
{
    struct wr_err err = {0};
    char *text;
    size_t n;

    assert_true(wr_file_read(&text, &n, out, 1 << 20, &err));
    wr_str_addn(to, text, n);
    free(text);
    unlink(out);
}

static bool are_there(const char *name)
{
    struct wr_str command = {0};

    wr_str_addf(&command, "for p in %s; do command -v $p >/dev/null || exit 1; done", name);
    bool there = !system(command.s);

    wr_str_fini(&command);
    return there;
}

static void check_program(struct fixture *l, const struct program *p, const char *clock)
{
    struct wr_str with = {0}, without = {0};
    struct wr_err err = {0};
    struct prof_job j = {0};
    char out[PATH_MAX];

    assert_non_null(realpath(l->dir, out));
    strncat(out, "/out", sizeof out - strlen(out) - 1);
    int plain = run_shell(l, p->script, NULL, out);

    take_output(out, &without);
    take_files(l, &without);
    int status = run_shell(l, p->script, clock, out);

    take_output(out, &with);
    take_files(l, &with);
    assert_int_equal(plain, status);
    assert_string_equal(wr_str_get(&without), wr_str_get(&with));
    assert_true(prof_job_read(&j, l->profiles, &err));
    assert_true(fixture_total(&j, PROF_W_write_bytes) + fixture_total(&j, PROF_W_write_estimate) >=
                (double)p->bytes);
    prof_job_fini(&j);
    fixture_clear(l->profiles);
    wr_str_fini(&with);
    wr_str_fini(&without);
}

static void programs_do_the_same_with_and_without_the_library(void **state)
{
    struct fixture l;

    (void)state;
    fixture_open(&l);
    for (int i = 0; i < NPROGRAMS; i++) {
        if (!are_there(programs[i].needs)) {
            print_message("%s is not installed: left out\n", programs[i].needs);
            continue;
        }
        print_message("%s\n", programs[i].needs);
        check_program(&l, &programs[i], i % 2 ? "precise" : "sampled");
    }
    fixture_close(&l);
}

/* Preloaded by hand, as a user would; what it printed. */
static int by_hand(const struct fixture *l, const char *dir, const char *way, struct wr_str *said)
{
    struct wr_str command = {0};
    char line[512];

    /* A process group of its own, as in a shell: its leader is who warns. */
    wr_str_addf(&command, "WEIR_PROF_DIR='%s' LD_PRELOAD='%s' setsid -w '%s' %s '%s' 2>&1", dir,
                l->lib, l->ways, way, l->data);
    FILE *p = popen(command.s, "r");

    while (p && fgets(line, sizeof line, p))
        wr_str_add(said, line);
    int status = pclose(p);

    wr_str_fini(&command);
    return WEXITSTATUS(status);
}

static void a_directory_that_is_not_there_costs_one_warning(void **state)
{
    struct wr_str said = {0};
    struct fixture l;

    (void)state;
    fixture_open(&l);
    assert_int_equal(by_hand(&l, "/nowhere/at/all", "fork", &said), 0);
    assert_non_null(strstr(wr_str_get(&said), "weir: this job is not profiled"));
    assert_null(strstr(strstr(said.s, "weir:") + 5, "weir:"));
    wr_str_fini(&said);
    fixture_close(&l);
}

/* Before and behind another library that wraps a call and hands it on. */
static void another_preloaded_library_keeps_its_place(void **state)
{
    char other[PATH_MAX], ours[PATH_MAX];
    struct fixture l;

    (void)state;
    fixture_open(&l);
    assert_non_null(realpath("lib/libprof-empty.so", other));
    snprintf(ours, sizeof ours, "%s", l.lib);
    for (int first = 0; first < 2; first++) {
        struct wr_str said = {0};
        struct wr_err err = {0};
        struct prof_job j = {0};

        snprintf(l.lib, sizeof l.lib, "%.2000s:%.2000s", first ? ours : other,
                 first ? other : ours);
        assert_int_equal(by_hand(&l, l.profiles, "pwrite", &said), 0);
        assert_string_equal(wr_str_get(&said), "");
        assert_true(prof_job_read(&j, l.profiles, &err));
        assert_true(fixture_total(&j, PROF_W_write_bytes) == 1 << 20);
        assert_true(fixture_total(&j, PROF_W_write_calls) == 256);
        prof_job_fini(&j);
        fixture_clear(l.profiles);
        wr_str_fini(&said);
    }
    fixture_clear(l.data);
    fixture_close(&l);
}

static void preloaded_by_hand_a_job_is_profiled_too(void **state)
{
    struct wr_str said = {0};
    struct wr_err err = {0};
    struct prof_job j = {0};
    struct fixture l;

    (void)state;
    fixture_open(&l);
    assert_int_equal(by_hand(&l, l.profiles, "fork", &said), 0);
    assert_string_equal(wr_str_get(&said), "");
    assert_true(prof_job_read(&j, l.profiles, &err));
    assert_int_equal(j.clock, PROF_COARSE);
    assert_true(fixture_total(&j, PROF_W_write_bytes) == 3.0 * (1 << 20));
    prof_job_fini(&j);
    wr_str_fini(&said);
    fixture_close(&l);
}

/* A disk of 64 kB: space for one profile but not for three, and not for the log. */
static void a_full_disk_costs_records_but_not_the_job(void **state)
{
    struct wr_str said = {0};
    struct fixture l;

    (void)state;
    fixture_open(&l);
    if (mount("none", l.profiles, "tmpfs", 0, "size=64k")) {
        print_message("a small disk cannot be mounted here: left out\n");
        fixture_close(&l);
        skip();
    }
    int status = by_hand(&l, l.profiles, "fork", &said);
    int many = by_hand(&l, l.profiles, "threads", &said);

    fixture_clear(l.profiles);
    umount(l.profiles);
    wr_str_fini(&said);
    fixture_clear(l.data);
    fixture_close(&l);
    assert_int_equal(status, 0);
    assert_int_equal(many, 0);
}

/* A copy of prof-ways, run by an unprivileged user with the library set; returns its exit status.
 * What it says on standard error is left in "said". */
static int as_unprivileged(const struct fixture *l, const char *program, const char *dir,
                           const char *data, const char *said)
{
    int status = -1;
    pid_t pid = fork();

    if (!pid) {
        int out = open(said, O_WRONLY | O_CREAT | O_TRUNC, 0600);

        dup2(out, 2);
        setenv("LD_PRELOAD", l->lib, 1);
        setenv("WEIR_PROF_DIR", dir, 1);
        if (setsid() < 0 || setgroups(0, NULL) || setgid(65534) || setuid(65534))
            _exit(98);
        execl(program, program, "write", data, NULL);
        _exit(99);
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int count_profiles(const char *dir)
{
    DIR *d = opendir(dir);
    int n = 0;

    for (struct dirent *e; d && (e = readdir(d));)
        n += strstr(e->d_name, PROF_ENDING) != NULL;
    if (d)
        closedir(d);
    return n;
}

/* Without the bit the same program is profiled, so that the test can see a difference. */
static const char *try_setuid(struct fixture *l)
{
    char here[PATH_MAX], program[PATH_MAX], profiles[PATH_MAX], data[PATH_MAX], said[PATH_MAX];
    struct wr_str command = {0};
    const char *why = NULL;
    struct stat st;

    assert_non_null(realpath(l->dir, here));
    snprintf(program, sizeof program, "%.4000s/ways", here);
    snprintf(profiles, sizeof profiles, "%.4000s/profiles", here);
    snprintf(data, sizeof data, "%.4000s/data", here);
    snprintf(said, sizeof said, "%.4000s/said", here);
    wr_str_addf(&command, "cp '%s' '%s'", l->ways, program);
    assert_int_equal(system(command.s), 0);
    assert_false(chmod(here, 0755) || chmod(profiles, 0777) || chmod(data, 0777));
    assert_false(chmod(program, 0755));
    if (as_unprivileged(l, program, profiles, data, said) || count_profiles(profiles) != 1)
        why = "another user cannot run programs here";
    fixture_clear(profiles);
    fixture_clear(data);
    if (!why) {
        assert_false(chown(program, 0, 0) || chmod(program, 04755));
        assert_int_equal(as_unprivileged(l, program, profiles, data, said), 0);
        strncat(data, "/data", sizeof data - strlen(data) - 1);
        assert_int_equal(stat(data, &st), 0);
        if (st.st_uid)
            why = "the bit has no effect here (nosuid)";
    }
    if (!why) {
        assert_int_equal(st.st_size, 1 << 20);
        assert_int_equal(count_profiles(profiles), 0);
        assert_int_equal(stat(said, &st), 0);
        assert_int_equal(st.st_size, 0);
    }
    unlink(program);
    unlink(said);
    wr_str_fini(&command);
    return why;
}

static void a_setuid_program_is_left_alone(void **state)
{
    const char *why = "only root can make one";
    struct fixture l;

    (void)state;
    fixture_open(&l);
    if (!geteuid())
        why = try_setuid(&l);
    fixture_close(&l);
    if (why) {
        print_message("a setuid program cannot be tried: %s\n", why);
        skip();
    }
}

int main(void)
{
    char tests_dir[PATH_MAX];

    if (realpath("tests", tests_dir))
        setenv("TESTS", tests_dir, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_do_the_same_with_and_without_the_library),
        cmocka_unit_test(a_directory_that_is_not_there_costs_one_warning),
        cmocka_unit_test(another_preloaded_library_keeps_its_place),
        cmocka_unit_test(preloaded_by_hand_a_job_is_profiled_too),
        cmocka_unit_test(a_setuid_program_is_left_alone),
        cmocka_unit_test(a_full_disk_costs_records_but_not_the_job),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
