// What a program may do on an input that nobody chose. Each harm is a name; it prints what it
// could do. Nothing here could do more than touch what the test made for it, or the processes of
// a pid namespace of its own: it looks for that first.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void tell(const char *what, long result) {
    if (result < 0)
        printf("%s: %s\n", what, strerrorname_np(errno));
    else
        printf("%s: done\n", what);
    fflush(stdout);
}

static int in_own_pid_namespace(void) { return getppid() == 1 && getpid() < 100; }

static void fork_without_end(void) {
    if (!in_own_pid_namespace())
        return;
    for (;;)
        fork();
}

static void threads_of_processes(void) {
    // Each child ends at once: their number in all is without end, at one time it is small.
    if (!in_own_pid_namespace())
        return;
    for (int i = 0; i < 3000; i++)
        if (fork() == 0)
            _exit(0);
        else
            wait(NULL);
    printf("went on\n");
}

static void leave_daemon(const char *file) {
    if (fork() != 0)
        return;
    setsid();
    if (fork() != 0)
        _exit(0);
    for (int i = 1; i < 65; i++)
        signal(i, SIG_IGN);
    for (;;) {
        int fd = open(file, O_WRONLY | O_CREAT | O_APPEND, 0666);
        write(fd, ".", 1);
        close(fd);
        usleep(5000);
    }
}

static void fill(const char *directory) {
    char name[4096], block[1 << 16];
    long written = 0;
    memset(block, 'x', sizeof block);
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "%s/fill%d", directory, i);
        int fd = open(name, O_WRONLY | O_CREAT, 0666);
        if (fd < 0)
            break;
        for (int k = 0; k < 16; k++) {
            long count = write(fd, block, sizeof block);
            if (count < 0) {
                tell("write", count);
                printf("%ld\n", written);
                return;
            }
            written += count;
        }
        close(fd);
    }
    printf("%ld\n", written);
}

static void many_files(void) {
    char name[64];
    int i = 0;
    for (; i < 100000; i++) {
        snprintf(name, sizeof name, "f%d", i);
        int fd = open(name, O_WRONLY | O_CREAT, 0666);
        if (fd < 0)
            break;
        close(fd);
    }
    tell("create", -1);
    printf("%d\n", i);
}

static void large_file(void) {
    int fd = open("large", O_WRONLY | O_CREAT, 0666);
    char block[1 << 16] = {0};
    for (;;)
        if (write(fd, block, sizeof block) < 0)
            break;
    tell("write", -1);
}

static void many_descriptors(void) {
    int count = 0;
    while (dup(0) >= 0)
        count++;
    tell("dup", -1);
    printf("%d\n", count);
}

static int connect_unix(const char *path, int abstract) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path + abstract, sizeof address.sun_path - abstract, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    return connect(fd, (struct sockaddr *)&address,
                   offsetof(struct sockaddr_un, sun_path) + abstract + strlen(path) + !abstract);
}

static int connect_local(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&address, sizeof address);
}

static void connect_to_host(char **places) {
    tell("tcp", connect_local(atoi(places[0])));
    tell("socket outside", connect_unix(places[1], 0));
    tell("socket in tmp", connect_unix(places[2], 0));
    tell("abstract socket", connect_unix(places[3], 1));
    int pipe = open(places[4], O_WRONLY | O_NONBLOCK);
    tell("named pipe", pipe < 0 ? pipe : write(pipe, "x", 1));
    tell("virtual machine's host", socket(40, SOCK_STREAM, 0));
    // What a program does with itself goes on.
    struct sockaddr_in own = {.sin_family = AF_INET};
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof own;
    int server = socket(AF_INET, SOCK_STREAM, 0);
    bind(server, (struct sockaddr *)&own, size);
    listen(server, 1);
    getsockname(server, (struct sockaddr *)&own, &size);
    tell("own socket", connect_local(ntohs(own.sin_port)));
}

static void kill_others(int target) {
    tell("kill target", kill(target, SIGKILL));
    tell("kill its group", kill(-target, SIGKILL));
    if (!in_own_pid_namespace())
        return;
    tell("kill own group", kill(0, SIGCONT));
    tell("kill parent", kill(getppid(), SIGTERM));
    kill(getppid(), SIGKILL);
    kill(-1, SIGKILL);
    printf("still here\n");
}

static void look_at_others(int target) {
    char name[64], text[64];
    int count = 0;
    DIR *processes = opendir("/proc");
    for (struct dirent *entry; (entry = readdir(processes));)
        count += atoi(entry->d_name) > 0;
    printf("%d processes\n", count);
    const char *files[] = {"/proc/%d/environ", "/proc/%d/mem", "/proc/%d/maps", "/proc/%d/fd/0"};
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, files[i], target);
        tell("target", open(name, O_RDONLY));
        snprintf(name, sizeof name, files[i], 1);
        tell("init", open(name, O_RDONLY));
    }
    tell("init's root", open("/proc/1/root/etc", O_RDONLY));
    tell("attach to target", ptrace(PTRACE_ATTACH, target, 0, 0));
    tell("attach to init", ptrace(PTRACE_ATTACH, 1, 0, 0));
    struct iovec here = {text, sizeof text}, there = {(void *)0x1000, sizeof text};
    tell("read target", process_vm_readv(target, &here, 1, &there, 1, 0));
}

static void change_system(void) {
    const char *files[] = {"/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger",
                           "/proc/sys/kernel/printk", "/proc/sys/vm/drop_caches",
                           "/sys/power/state", "/etc/passwd", "/dev/kmsg", "/dev/mem"};
    for (unsigned i = 0; i < sizeof files / sizeof *files; i++) {
        int fd = open(files[i], O_WRONLY);
        if (fd >= 0)
            printf("%s could be opened\n", files[i]);
    }
}

static void forbidden_calls(void) {
    tell("mount", mount("none", "/tmp", "tmpfs", 0, ""));
    tell("remount", mount("none", "/", NULL, MS_REMOUNT | MS_BIND, NULL));
    tell("umount", umount2("/dev", MNT_DETACH));
    tell("unshare user", unshare(CLONE_NEWUSER));
    tell("unshare mount", unshare(CLONE_NEWNS));
    tell("clone user", syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
    tell("chroot", chroot("/tmp"));
    tell("setns", setns(0, 0));
    tell("bpf", syscall(SYS_bpf, 0, 0, 0));
    tell("perf", syscall(SYS_perf_event_open, 0, 0, 0, 0, 0));
    tell("keyctl", syscall(SYS_keyctl, 0, 0, 0, 0, 0));
    tell("reboot", syscall(SYS_reboot, 0, 0, 0, 0));
    tell("module", syscall(SYS_init_module, 0, 0, 0));
    tell("clock", syscall(SYS_clock_settime, 12345, 0));
    tell("swap", syscall(SYS_swapon, "/nowhere", 0));
    tell("device", mknod("device", S_IFBLK | 0666, 0x801));
    tell("uring", syscall(SYS_io_uring_setup, 0, 0));
    tell("userfaultfd", syscall(SYS_userfaultfd, 0));
    char line[256];
    FILE *status = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, status))
        if (!strncmp(line, "NoNewPrivs", 10) || !strncmp(line, "Seccomp:", 8))
            fputs(line, stdout);
}

static void use_terminal(void) {
    tell("terminal", open("/dev/tty", O_RDWR));
    for (int fd = 0; fd < 256; fd++)
        if (ioctl(fd, TIOCSTI, "x") == 0)
            printf("typed into %d\n", fd);
    for (int fd = 0; fd < 256; fd++)
        if (isatty(fd))
            printf("%d is a terminal\n", fd);
}

static void use_descriptors(void) {
    for (int fd = 3; fd < 1000; fd++)
        if (write(fd, "x", 1) >= 0 || errno != EBADF)
            printf("%d is open\n", fd);
    tell("standard input for writing", open("/proc/self/fd/0", O_WRONLY));
}

static void allocate(void) {
    for (;;) {
        char *memory = malloc(1 << 20);
        if (memory)
            memset(memory, 1, 1 << 20);
    }
}

static void allocate_file(void) {
    int fd = memfd_create("x", 0);
    char block[1 << 16] = {0};
    for (;;)
        write(fd, block, sizeof block);
}

static void allocate_by_children(void) {
    for (int i = 0; i < 10; i++)
        if (fork() == 0) {
            memset(malloc(20 << 20), 1, 20 << 20);
            pause();
        }
    pause();
}

static void share_memory(void) {
    // Much less than it looks: the pages are the same.
    memset(malloc(30 << 20), 1, 30 << 20);
    for (int i = 0; i < 10; i++)
        if (fork() == 0) {
            usleep(300000);
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
    printf("went on\n");
}

static int recurse(volatile char *above) {
    volatile char here[4096];
    here[0] = *above + 1;
    return recurse(here) + here[0];
}

static void ignore_signals(void) {
    sigset_t all;
    for (int i = 1; i < 65; i++)
        signal(i, SIG_IGN);
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    for (;;)
        pause();
}

// What outlives processes: shared memory, and ports whose connections are remembered.
static void leave_things(void) {
    tell("memory", shmget(4242, 4096, IPC_CREAT | IPC_EXCL | 0600));
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(4242)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int listener = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
    tell("port", bind(listener, (struct sockaddr *)&address, sizeof address));
    listen(listener, 1);
    connect(client, (struct sockaddr *)&address, sizeof address);
    close(accept(listener, NULL, NULL));
    close(client);
}

int main(int count, char **arguments) {
    const char *harm = count > 1 ? arguments[1] : "";
    char **rest = arguments + 2;
#define HARM(name, call) \
    if (!strcmp(harm, name)) { \
        call; \
        return 0; \
    }
    HARM("fork", fork_without_end())
    HARM("many", threads_of_processes())
    HARM("daemon", leave_daemon(rest[0]))
    HARM("fill", fill(rest[0]))
    HARM("files", many_files())
    HARM("large", large_file())
    HARM("descriptors", many_descriptors())
    HARM("connect", connect_to_host(rest))
    HARM("kill", kill_others(atoi(rest[0])))
    HARM("look", look_at_others(atoi(rest[0])))
    HARM("system", change_system())
    HARM("calls", forbidden_calls())
    HARM("terminal", use_terminal())
    HARM("inherited", use_descriptors())
    HARM("allocate", allocate())
    HARM("allocate-file", allocate_file())
    HARM("allocate-children", allocate_by_children())
    HARM("share", share_memory())
    HARM("leave", leave_things())
    HARM("recurse", recurse(harm))
    HARM("ignore", ignore_signals())
    HARM("stop", raise(SIGSTOP))
    HARM("spin", for (;;);)
    printf("no such harm\n");
    return 1;
}
