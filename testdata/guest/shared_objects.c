// covers: open ftruncate mmap unlink fstat fork
// flags: -lrt
#include "child.h"
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/shm.h>

/* Shared memory of POSIX by name, and keys of System V's objects by file. */
static char name[64], *p;
static void in_the_child(void)
{
    int fd = shm_open(name, O_RDWR, 0);
    char *q = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    printf("child reads %s %s\n", q, p), strcpy(q, "by the child");
}

int main(void)
{
    struct stat st;
    char path[80], buf[32] = "";
    snprintf(name, sizeof name, "/cgemu.shm.%d", (int)getpid());
    is(shm_open(name, O_RDWR, 0) == -1 && errno == ENOENT);
    int fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0640);
    is(fd >= 0), fstat(fd, &st), printf("%o %ld %ld\n", st.st_mode, (long)st.st_size, S(fcntl, fd, F_GETFD)),
        is(shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600) == -1 && errno == EEXIST), T(ftruncate, fd, 4096),
        p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), strcpy(p, "by the parent"), reap(child(in_the_child)), printf("%s\n", p),
        T(pread64, fd, buf, 12, 0), printf("%s\n", buf), T(pwrite64, fd, "file", 4, 0), printf("%s\n", p);
    int ro = shm_open(name, O_RDONLY, 0), cut;
    is(mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, ro, 0) == MAP_FAILED && errno == EACCES), T(ftruncate, ro, 0), T(ftruncate, fd, 100),
        fstat(ro, &st), num(st.st_size), snprintf(path, sizeof path, "/dev/shm%s", name), num(stat(path, &st)), num(S_ISREG(st.st_mode)),
        cut = shm_open(name, O_RDWR | O_TRUNC, 0), fstat(cut, &st), num(st.st_size), T(ftruncate, fd, 8192), printf("'%s'\n", p), strcpy(p, "again"),
        num(shm_unlink(name)), is(shm_unlink(name) == -1 && errno == ENOENT), printf("%s\n", p), fd = shm_open(name, O_RDWR | O_CREAT, 0600),
        fstat(fd, &st), num(st.st_size), num(shm_unlink(name)), is(shm_open("/", O_RDWR | O_CREAT, 0600) == -1),
        is(shm_open("/a/b", O_RDWR | O_CREAT, 0600) == -1 && errno == EINVAL), is(shm_open("", O_RDWR, 0) == -1 && errno == EINVAL),
        is(shm_unlink("none of this name") == -1 && errno == ENOENT);
    char longest[300] = "/";
    memset(longest + 1, 'n', 256), is(shm_open(longest, O_RDWR | O_CREAT, 0600) == -1 && errno == ENAMETOOLONG);

    /* Keys. */
    put("a", ""), put("b", "");
    key_t a = ftok("a", 1), a2 = ftok("a", 2), b = ftok("b", 1);
    is(a != -1 && a != a2 && a != b && a == ftok("a", 1)), is(a == ftok("a", 257)), is(ftok("none", 1) == -1 && errno == ENOENT), num(link("a", "c")),
        is(ftok("c", 1) == a), num((unsigned)a >> 24);
    int id = semget(a, 2, IPC_CREAT | IPC_EXCL | 0600);
    is(id >= 0), is(semget(a, 2, 0) == id), is(semget(a, 3, 0) == -1 && errno == EINVAL), is(semget(a, 0, 0) == id),
        is(semget(a, 2, IPC_CREAT | IPC_EXCL | 0600) == -1 && errno == EEXIST), is(shmget(a, 1, 0) == -1 && errno == ENOENT);
    int shm = shmget(a, 1, IPC_CREAT | 0600);
    is(shm >= 0), num(shmctl(shm, IPC_RMID, 0)), num(semctl(id, 0, IPC_RMID)), is(semget(a, 2, 0) == -1 && errno == ENOENT),
        is(semget(IPC_PRIVATE, 0, 0600) == -1 && errno == EINVAL), is(semget(IPC_PRIVATE, 100000, 0600) == -1 && errno == EINVAL);
    return 0;
}
