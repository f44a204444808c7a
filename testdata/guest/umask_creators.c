// covers: umask open creat mkdir mknod bind mq_open symlink mkdirat openat chmod
#include "guest.h"
#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/un.h>

/* The mask of modes and everything that makes something with a mode. */
static void mode(const char *path)
{
    struct stat st;
    long r = S(lstat, path, &st);
    if (r < 0)
        show(path, r);
    else
        printf("  %s: %o\n", path, st.st_mode);
}

int main(void)
{
    num(umask(022)), num(umask(0777)), num(umask(07777)), num(umask(0)), num(umask(-1)), num(umask(0));
    const int masks[] = {0, 022, 077, 027, 0777, 0111};
    struct sockaddr_un a = {AF_UNIX, "socket"};
    for (unsigned i = 0; i < sizeof masks / sizeof *masks; i++) {
        printf("mask %o\n", masks[i]), umask(masks[i]);
        S(close, S(open, "open", O_CREAT | O_WRONLY, 07777)), mode("open"), S(close, S(creat, "creat", 0666)), mode("creat");
        S(mkdir, "dir", 07777), mode("dir"), S(mknod, "fifo", S_IFIFO | 0777, 0), mode("fifo"), S(mknod, "node", 0666, 0), mode("node");
        S(symlink, "x", "symlink"), mode("symlink"), S(link, "open", "link"), mode("link");
        long s = S(socket, AF_UNIX, SOCK_DGRAM, 0);
        S(bind, s, &a, sizeof a), S(close, s), mode("socket"), S(chmod, "creat", 0777), mode("creat");
        FILE *f = fopen("stdio", "w");
        fclose(f), mode("stdio");
        char made[] = "mkstempXXXXXX", made_dir[] = "mkdtempXXXXXX";
        int fd = mkstemp(made);
        struct stat st;
        fstat(fd, &st), close(fd), printf("  mkstemp: %o\n", st.st_mode), S(chmod, made, 0600), unlink(made);
        if (mkdtemp(made_dir))
            stat(made_dir, &st), printf("  mkdtemp: %o\n", st.st_mode), rmdir(made_dir);
        /* System V's and memfd know no mask, POSIX queues do. */
        struct shmid_ds ds;
        long id = S(shmget, IPC_PRIVATE, 1, IPC_CREAT | 0666);
        S(shmctl, id, IPC_STAT, &ds), S(shmctl, id, IPC_RMID, 0), printf("  shm: %o\n", ds.shm_perm.mode);
        fd = (int)S(memfd_create, "m", 0), fstat(fd, &st), close(fd), printf("  memfd: %o\n", st.st_mode);
        char queue[32];
        snprintf(queue, sizeof queue, "cgemu.mask.%d", (int)getpid());
        fd = (int)S(mq_open, queue, O_CREAT | O_RDWR, 0666, 0), S(mq_unlink, queue);
        if (fd >= 0)
            fstat(fd, &st), close(fd), printf("  queue: %o\n", st.st_mode);
        S(unlink, "open"), S(unlink, "creat"), S(rmdir, "dir"), S(unlink, "fifo"), S(unlink, "node"), S(unlink, "symlink"), S(unlink, "link"),
            S(unlink, "socket"), S(unlink, "stdio");
    }
    return 0;
}
