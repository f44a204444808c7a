// covers: pipe pipe2 splice tee
#include "guest.h"

static int pipes;
static void on_pipe(int s)
{
    (void)s;
    pipes++;
}

int main(void)
{
    static char big[200000];
    char buf[64];
    int p[2], q[2];

    T(pipe, p);
    printf("%d %d\n", p[0], p[1]);
    T(write, p[1], "one", 3);
    T(write, p[1], "two", 3);
    T(read, p[0], buf, 4);
    T(read, p[0], buf, 40);
    T(write, p[1], "", 0);
    T(close, p[1]);
    T(read, p[0], buf, 4);
    T(close, p[0]);
    T(pipe, BAD);
    T(pipe, KERNEL);
    T(pipe2, p, O_NONBLOCK | O_CLOEXEC);
    num(S(fcntl, p[0], F_GETFD));
    T(read, p[0], buf, 1);
    T(write, p[1], big, sizeof big);
    T(write, p[1], big, 1);
    T(read, p[0], big, 4096);
    T(write, p[1], big, 4096);
    T(write, p[1], big, 1);
    T(read, p[0], big, sizeof big);
    T(read, p[0], big, sizeof big);
    T(pipe2, p, 0x40000000);
    T(pipe2, q, O_RDWR);

    /* Nobody reads any more. */
    signal(SIGPIPE, on_pipe);
    S(close, p[0]);
    T(write, p[1], "x", 1);
    num(pipes);
    signal(SIGPIPE, SIG_IGN);
    T(write, p[1], "x", 1);
    num(pipes);
    S(close, p[1]);

    T(pipe2, p, O_NONBLOCK);
    T(pipe2, q, O_NONBLOCK);
    T(write, p[1], "copied by tee", 13);
    T(tee, p[0], q[1], 6, 0);
    T(read, q[0], buf, sizeof buf);
    printf("%.6s\n", buf);
    T(tee, p[0], q[1], 100, 0);
    T(read, p[0], buf, sizeof buf);
    T(tee, p[0], q[1], 100, 2);
    T(tee, p[0], p[1], 100, 0);
    T(tee, p[0], q[1], 100, 0x100);
    T(tee, 99, q[1], 1, 0);
    T(tee, q[1], p[0], 1, 0);
    long f = S(open, "host/file", O_RDWR);
    T(tee, f, p[1], 1, 0);

    off_t at = 3;
    T(splice, f, &at, p[1], NULL, 4, 0);
    num(at);
    T(read, p[0], buf, sizeof buf);
    printf("%.4s\n", buf);
    T(splice, f, NULL, p[1], NULL, 100, 0);
    T(lseek, f, 0, SEEK_CUR);
    T(splice, f, NULL, p[1], NULL, 100, 0);
    at = 20;
    T(splice, p[0], NULL, f, &at, 5, 0);
    T(splice, p[0], NULL, f, NULL, 100, 0);
    cat("host/file");
    T(splice, p[0], NULL, f, NULL, 100, 2);
    T(splice, q[0], NULL, p[1], NULL, 100, 0);
    T(splice, f, NULL, f, NULL, 1, 0);
    T(splice, p[0], &at, f, NULL, 1, 0);
    T(splice, f, BAD, p[1], NULL, 1, 0);
    T(splice, 99, NULL, p[1], NULL, 1, 0);
    T(splice, f, NULL, p[1], NULL, 1, 0x100);
    at = -1;
    T(splice, f, &at, p[1], NULL, 1, 0);
    return 0;
}
