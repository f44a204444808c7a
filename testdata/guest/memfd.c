// covers: memfd_create
#include "guest.h"

int main(void)
{
    char buf[16], name[260];
    struct stat st;
    long fd = T(memfd_create, "name", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    num(S(fcntl, fd, F_GETFD));
    T(write, fd, "content", 7);
    T(pread64, fd, buf, 16, 2);
    T(fstat, fd, &st);
    printf("%o %ld %ld\n", st.st_mode, (long)st.st_nlink, (long)st.st_size);
    char link[64], self[32];
    sprintf(self, "/proc/self/fd/%ld", fd);
    long n = S(readlink, self, link, sizeof link);
    printf("%.*s\n", (int)n, link);
    T(fcntl, fd, F_GET_SEALS);
    T(fcntl, fd, F_ADD_SEALS, F_SEAL_GROW);
    T(write, fd, "more", 4);
    T(pwrite64, fd, "over", 4, 0);
    T(ftruncate, fd, 100);
    T(ftruncate, fd, 5);
    T(fcntl, fd, F_ADD_SEALS, F_SEAL_SHRINK);
    T(ftruncate, fd, 2);
    T(fcntl, fd, F_ADD_SEALS, F_SEAL_WRITE);
    T(pwrite64, fd, "x", 1, 0);
    T(fcntl, fd, F_ADD_SEALS, F_SEAL_SEAL);
    T(fcntl, fd, F_ADD_SEALS, F_SEAL_GROW);
    T(fcntl, fd, F_GET_SEALS);
    T(fcntl, fd, F_ADD_SEALS, 0x1000);
    is((char *)mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED && errno == EPERM);
    is(mmap(0, 4096, PROT_READ, MAP_PRIVATE, fd, 0) != MAP_FAILED);

    /* Up to the page with the end a file that must not grow is written. */
    static char many[9000];
    memset(many, 'm', sizeof many);
    fd = T(memfd_create, "grow", MFD_ALLOW_SEALING), T(ftruncate, fd, 10000);
    T(fcntl, fd, F_ADD_SEALS, F_SEAL_GROW), T(pwrite64, fd, many, 6000, 4000), T(pwrite64, fd, many, 6000, 4096);
    T(pwrite64, fd, many, 9000, 4001), T(pwrite64, fd, many, 100, 9950), T(pwrite64, fd, many, 1, 10000);
    T(pwrite64, fd, many, 9000, 20000), T(lseek, fd, 0, SEEK_END);

    fd = T(memfd_create, "plain", 0);
    T(fcntl, fd, F_ADD_SEALS, F_SEAL_GROW);
    T(fcntl, fd, F_GET_SEALS);
    T(ftruncate, fd, 8192);
    char *m = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    strcpy(m + 4096, "shared");
    T(pread64, fd, buf, 7, 4096);
    printf("%s\n", buf);
    T(pwrite64, fd, "SH", 2, 4096);
    printf("%s\n", m + 4096);
    T(fcntl, fd, F_GETFL);
    T(memfd_create, "x", 0x100000);
    T(memfd_create, BAD, 0);
    T(memfd_create, "", 0);
    memset(name, 'n', 259), name[249] = 0;
    T(memfd_create, name, 0);
    name[249] = 'n', name[250] = 0;
    T(memfd_create, name, 0);
    /* A file of a tmpfs has seals; what has none is refused. */
    int file = (int)S(open, "/dev/null", O_RDWR);
    T(fcntl, file, F_GET_SEALS);
    T(fcntl, file, F_ADD_SEALS, F_SEAL_GROW);
    return 0;
}
