// covers: open read readlink getdents64 capset prctl
#include "guest.h"
#include <ctype.h>
#include <dirent.h>
#include <linux/capability.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

static char text[1 << 16];

static char *slurp(const char *path)
{
    long fd = S(open, path, O_RDONLY), n = 0, got;
    text[0] = 0;
    if (fd < 0)
        return text;
    while ((got = S(read, fd, text + n, sizeof text - 1 - n)) > 0)
        n += got;
    text[n] = 0;
    S(close, fd);
    return text;
}

/* The names that a file gives to its values, without the values. */
static void first_word(const char *path, const char *word)
{
    slurp(path);
    printf("%s: %s\n", path, strncmp(text, word, strlen(word)) == 0 ? "begins as it should" : text);
}

/* A file of the machine that containers hide: it is there, and holds nothing or what it should. */
static void hidden_or_has(const char *path, const char *word)
{
    printf("%s: %ld %s: %s\n", path, S(access, path, R_OK), word, !*slurp(path) || strstr(text, word) ? "yes" : "NO");
}

static void has(const char *path, const char *word)
{
    printf("%s: %s: %s\n", path, word, strstr(slurp(path), word) ? "yes" : "NO");
}

/* The shape of a line: digits as 0, hex letters stay. */
static void shape(const char *what, const char *line)
{
    printf("%s: ", what);
    for (; *line && *line != '\n'; line++)
        putchar(isxdigit((unsigned char)*line) ? 'x' : *line);
    putchar('\n');
}

static void field(const char *name)
{
    char *line = strstr(slurp("/proc/self/status"), name);
    printf("%.*s\n", line ? (int)strcspn(line, "\n") : 4, line ? line : "none");
}

int main(void)
{
    char path[64], other[64];
    /* fdinfo */
    long fd = S(open, "host/file", O_RDONLY | O_CLOEXEC);
    S(lseek, fd, 5, SEEK_SET);
    sprintf(path, "/proc/self/fdinfo/%ld", fd);
    slurp(path);
    printf("%.28s\n", text);
    is(strstr(text, "mnt_id:\t") != NULL);
    struct stat st;
    fstat(fd, &st);
    sprintf(other, "ino:\t%lu\n", st.st_ino);
    is(strstr(text, other) != NULL || release() < 514);
    S(fcntl, fd, F_SETFD, 0);
    printf("%.22s\n", slurp(path));
    long event = eventfd(10, 0);
    sprintf(path, "/proc/self/fdinfo/%ld", event);
    has(path, "eventfd-count:                a\n");
    S(close, event);
    T(open, path, O_RDONLY);
    T(open, "/proc/self/fdinfo/x", O_RDONLY);
    DIR *dir = opendir("/proc/self/fdinfo");
    int found = 0;
    for (struct dirent *e; (e = readdir(dir));)
        found += atol(e->d_name) == fd && isdigit((unsigned char)e->d_name[0]);
    closedir(dir);
    num(found);
    /* ns */
    static const char *const spaces[] = {"cgroup", "ipc", "mnt", "net", "pid", "user", "uts"};
    for (unsigned i = 0; i < sizeof spaces / sizeof *spaces; i++) {
        sprintf(path, "/proc/self/ns/%s", spaces[i]);
        long n = S(readlink, path, other, sizeof other - 1);
        other[n > 0 ? n : 0] = 0;
        printf("%.*s\n", (int)strcspn(other, "0123456789"), other);
        for (char *p = other + strcspn(other, "0123456789"); isdigit((unsigned char)*p); p++)
            if (p[1] == ']')
                printf("%ld\n", (long)strlen(p));
    }
    /* io: what this process reads and writes. */
    long before, after;
    sscanf(slurp("/proc/self/io"), "rchar: %ld", &before);
    fd = S(open, "host/other", O_RDONLY);
    S(read, fd, other, 8);
    sscanf(slurp("/proc/self/io"), "rchar: %ld", &after);
    is(after >= before + 8);
    for (char *line = text, *next; *line; line = next + 1) {
        next = strchr(line, '\n');
        printf("%.*s\n", (int)strcspn(line, ":"), line);
    }
    /* pagemap */
    char *page = mmap(0, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    page[4096] = 1;
    uint64_t words[3] = {9, 9, 9};
    fd = S(open, "/proc/self/pagemap", O_RDONLY);
    num(S(pread64, fd, words, 24, (long)page / 4096 * 8));
    printf("%d %d %d\n", (int)(words[0] >> 63), (int)(words[1] >> 63), (int)(words[2] >> 63));
    T(pread64, fd, words, 7, 0);
    T(pread64, fd, words, 8, 3);
    /* smaps */
    slurp("/proc/self/smaps");
    sprintf(other, "%08lx-", (long)page);
    char *mine = strstr(text, other);
    is(mine != NULL);
    static const char *const rows[] = {"Size:", "Rss:",          "KernelPageSize:", "Pss:",          "Private_Clean:", "Private_Dirty:",
                                       "Shared_Clean:",  "Referenced:",     "Anonymous:",    "AnonHugePages:", "Swap:",
                                       "Locked:",        "VmFlags: rd wr"};
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        printf("%s %s\n", rows[i], mine && strstr(mine, rows[i]) ? "yes" : "NO");
    slurp("/proc/self/smaps_rollup");
    is(strstr(text, "[rollup]\nRss: ") != NULL);
    /* The random numbers of the kernel. */
    shape("boot_id", slurp("/proc/sys/kernel/random/boot_id"));
    shape("uuid", slurp("/proc/sys/kernel/random/uuid"));
    printf("version %c\n", text[14]);
    strcpy(other, text);
    is(strcmp(other, slurp("/proc/sys/kernel/random/uuid")) != 0);
    strcpy(other, slurp("/proc/sys/kernel/random/boot_id"));
    is(strcmp(other, slurp("/proc/sys/kernel/random/boot_id")) == 0);
    is(atol(slurp("/proc/sys/kernel/random/poolsize")) > 0);
    is(atol(slurp("/proc/sys/kernel/random/entropy_avail")) > 0);
    /* The machine. */
    first_word("/proc/vmstat", "nr_free_pages ");
    has("/proc/vmstat", "\npgfault ");
    has("/proc/vmstat", "\npswpin ");
    hidden_or_has("/proc/diskstats", " 0 ");
    hidden_or_has("/proc/interrupts", "           CPU0       ");
    hidden_or_has("/proc/interrupts", "Local timer interrupts\n");
    has("/proc/softirqs", "       TIMER:");
    hidden_or_has("/proc/partitions", "major minor  #blocks  name\n\n");
    num(S(access, "/proc/locks", R_OK));
    /* The network: a loopback, and the heads of the tables. */
    has("/proc/net/dev", "Inter-|   Receive                                                |  Transmit\n"
                         " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo "
                         "colls carrier compressed\n");
    has("/proc/net/dev", "\n    lo:");
    first_word("/proc/net/tcp", "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
                                "inode                                                     \n");
    first_word("/proc/net/udp", "   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
                                "inode ref pointer drops             \n");
    first_word("/proc/net/raw", "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
                                "inode ref pointer drops\n");
    first_word("/proc/net/unix", "Num       RefCount Protocol Flags    Type St Inode Path\n");
    first_word("/proc/net/arp", "IP address       HW type     Flags       HW address            Mask     Device\n");
    first_word("/proc/net/route", "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT  ");
    first_word("/proc/net/packet", "sk               RefCnt Type Proto  Iface R Rmem   User   Inode\n");
    has("/proc/net/sockstat", "\nTCP: inuse ");
    long n = S(readlink, "/proc/net", other, sizeof other);
    printf("%.*s\n", (int)n, other);
    has("/proc/self/uid_map", " ");
    /* What has changed since the start shows. */
    S(prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    field("NoNewPrivs:");
    field("SigBlk:");
    field("SigCgt:");
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1), sigaddset(&set, SIGRTMIN);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGUSR2, SIG_IGN), signal(SIGHUP, (void (*)(int))main);
    S(kill, getpid(), SIGUSR1);
    S(tkill, S(gettid), SIGRTMIN);
    field("SigPnd:");
    field("ShdPnd:");
    field("SigBlk:");
    uint64_t ignored = 0, caught = 0;
    sscanf(strstr(slurp("/proc/self/status"), "SigIgn:"), "SigIgn: %lx", &ignored);
    sscanf(strstr(text, "SigCgt:"), "SigCgt: %lx", &caught);
    is(ignored >> (SIGUSR2 - 1) & 1 && caught == 1);
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2] = {{0}};
    T(capset, &head, none);
    field("CapInh:");
    field("CapPrm:");
    field("CapEff:");
}
