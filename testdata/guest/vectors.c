// covers: readv writev preadv pwritev preadv2 pwritev2
#include "guest.h"
#include <sys/uio.h>

#ifndef RWF_APPEND
#define RWF_APPEND 16
#endif

int main(void)
{
    char a[8], b[8], c[8], *end = edge();
    struct iovec in[3] = {{a, 3}, {b, 0}, {c, 5}};
    struct iovec out[3] = {{"one", 3}, {BAD, 0}, {"three", 5}};
    struct iovec many[1025];

    long fd = T(open, "f", O_RDWR | O_CREAT, 0644);
    T(writev, fd, out, 3);
    T(writev, fd, out, 0);
    T(writev, fd, NULL, 0);
    T(lseek, fd, 0, SEEK_SET);
    T(readv, fd, in, 3);
    printf("%.3s %.5s\n", a, c);
    T(readv, fd, in, 3);
    T(pwritev, fd, out, 3, 20, 0);
    T(preadv, fd, in, 3, 18, 0);
    printf("%d%d%.1s %.5s\n", a[0], a[1], a + 2, c);
    T(lseek, fd, 0, SEEK_CUR);
    T(preadv, fd, in, 3, -1, 0);
    T(pwritev, fd, out, 3, -1, -1);
    T(preadv2, fd, in, 1, 0, 0, 0);
    T(preadv2, fd, in, 1, -1, -1, 0);
    T(pwritev2, fd, out, 1, -1, -1, 0);
    T(lseek, fd, 0, SEEK_CUR);
    T(preadv2, fd, in, 1, -2, -1, 0);
    T(preadv2, 99, in, 1, -2, -1, 0), T(pwritev2, 99, out, 1, -2, -1, 0), T(preadv2, 99, in, 1, -1, -1, 0), T(preadv2, 99, in, -1, -3, -1, 0);
    T(preadv, 99, in, 1, -2, -1), T(pwritev, 99, out, 1, -1, -1), T(preadv, 99, in, 1, 0, 0);
    T(pwritev2, fd, out, 1, 0, 0, RWF_DSYNC);
    T(pwritev2, fd, out, 1, 0, 0, RWF_SYNC);
    T(preadv2, fd, in, 1, 0, 0, RWF_HIPRI);
    T(preadv2, fd, in, 1, 0, 0, 1 << 20);
    T(pwritev2, fd, out, 1, 0, 0, 1 << 20);

    T(readv, fd, in, -1);
    T(writev, fd, out, -1);
    T(readv, fd, BAD, 1);
    T(writev, fd, KERNEL, 1);
    T(readv, 99, in, 1);
    T(writev, 99, out, 1);
    T(preadv, 99, in, 1, 0, 0);
    T(pwritev, 99, out, 1, 0, 0);
    for (int i = 0; i < 1025; i++)
        many[i] = (struct iovec){a, 1};
    T(writev, fd, many, 1024);
    T(writev, fd, many, 1025);
    T(readv, fd, many, 1025);
    T(lseek, fd, 0, SEEK_CUR);

    /* Lengths that do not fit, one by one and together. */
    in[0].iov_len = (size_t)-1;
    T(readv, fd, in, 1);
    in[0].iov_len = 3, in[2].iov_len = (size_t)1 << 63;
    T(readv, fd, in, 3);
    in[2].iov_len = 5;

    /* A bad part in the middle: what came before it counts. */
    T(lseek, fd, 0, SEEK_SET);
    in[1] = (struct iovec){BAD, 4};
    T(readv, fd, in, 3);
    T(lseek, fd, 0, SEEK_CUR);
    in[0] = (struct iovec){end - 2, 4};
    T(readv, fd, in, 2);
    out[0] = (struct iovec){end - 2, 4};
    T(pwritev, fd, out, 1, 0, 0);
    out[0] = (struct iovec){BAD, 4};
    T(writev, fd, out, 1);
    char *last = end - sizeof(struct iovec);
    memcpy(last, &(struct iovec){a, 1}, sizeof(struct iovec));
    show("an array up to a hole", S(writev, fd, last, 1));
    show("an array into a hole", S(writev, fd, last, 2));

    int p[2];
    S(pipe2, p, 0);
    T(preadv, p[0], in, 1, 0, 0);
    T(pwritev, p[1], out, 1, 0, 0);
    T(preadv2, p[0], in, 1, 0, 0, 0);
    struct iovec words[2] = {{"pipe", 4}, {"line", 4}}, back[2] = {{a, 5}, {b, 8}};
    T(writev, p[1], words, 2);
    T(pwritev2, p[1], words, 2, -1, -1, 0);
    T(readv, p[0], back, 2);
    printf("%.5s %.8s\n", a, b);
    T(preadv2, p[0], back, 1, -1, -1, 0);
    long ro = S(open, "f", O_RDONLY), wo = S(open, "f", O_WRONLY);
    T(writev, ro, words, 2);
    T(readv, wo, back, 2);
    T(preadv, wo, back, 2, 0, 0);
    T(pwritev, ro, words, 2, 0, 0);
    return 0;
}
