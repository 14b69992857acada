/* What crates/fixtures/tests/capture.rs captures: each first argument is one way to use files,
 * standard input or processes. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static void write_file(const char *path, int flags)
{
    int fd = open(path, flags, 0666);
    if (fd >= 0) {
        write(fd, "new", 3);
        close(fd);
    }
}

static int read_file(const char *path)
{
    char buffer[100];
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return 1;
    size_t got = fread(buffer, 1, sizeof buffer, file);
    fclose(file);
    fwrite(buffer, 1, got, stdout);
    return 0;
}

static void use_paths(void)
{
    struct stat record;
    glob_t matches;
    char link[100], temporary[] = "temporary-XXXXXX";
    read_file("in");
    FILE *file = fopen("emptied", "w");
    fputs("other", file);
    fclose(file);
    file = fopen("appended", "a");
    fputs("other", file);
    fclose(file);
    stat("part", &record);
    write_file("part", O_WRONLY);
    stat("missing", &record);
    stat("dangling", &record);
    readlink("link", link, sizeof link);
    stat("link", &record);
    write_file("new", O_WRONLY | O_CREAT | O_TRUNC);
    read_file("new");
    mkdir("made", 0777);
    rename("moved", "to");
    read_file("to");
    symlink("in", "target");
    unlink("removed");
    mkfifo("pipe", 0600);
    close(mkstemp(temporary));
    access("/etc/passwd", R_OK);
    int directory = open("deep", O_RDONLY | O_DIRECTORY);
    int fd = openat(directory, "sub/../sub/file", O_RDONLY);
    close(fd);
    close(directory);
    glob("deep/*", 0, NULL, &matches);
    globfree(&matches);
    DIR *listing = opendir(".");
    while (readdir(listing) != NULL)
        ;
    closedir(listing);
}

static void use_stdin(const char *how)
{
    static char buffer[10000];
    int c, number;
    ssize_t got;
    char *line = NULL;
    size_t room = 0;
    if (is(how, "read")) {
        while ((got = read(0, buffer, sizeof buffer)) > 0)
            write(1, buffer, (size_t)got);
    } else if (is(how, "dup")) {
        int fd = dup(0);
        while ((got = read(fd, buffer, 7)) > 0)
            write(1, buffer, (size_t)got);
    } else if (is(how, "getc")) {
        while ((c = getc(stdin)) != EOF)
            putchar(c);
    } else if (is(how, "unlocked")) {
        while ((c = getc_unlocked(stdin)) != EOF)
            putchar_unlocked(c);
    } else if (is(how, "fgets")) {
        /* Zeros are lost here, but not in what was read. */
        while (memset(buffer, 1, 100), fgets(buffer, 100, stdin) != NULL) {
            size_t size = 100;
            while (buffer[size - 1] == 1)
                size--;
            fwrite(buffer, 1, size - 1, stdout);
        }
    } else if (is(how, "getline")) {
        while ((got = getline(&line, &room, stdin)) > 0)
            fwrite(line, 1, (size_t)got, stdout);
        free(line);
    } else if (is(how, "fread")) {
        while ((got = (ssize_t)fread(buffer, 1, 100, stdin)) > 0)
            fwrite(buffer, 1, (size_t)got, stdout);
    } else if (is(how, "large")) {
        while ((got = (ssize_t)fread(buffer, 1, sizeof buffer, stdin)) > 0)
            fwrite(buffer, 1, (size_t)got, stdout);
    } else if (is(how, "odd")) {
        /* Items of 7 bytes: the last one is not whole, but it is there. */
        memset(buffer, 1, sizeof buffer);
        while ((got = (ssize_t)fread(buffer, 7, 1000, stdin)) == 1000)
            fwrite(buffer, 7, 1000, stdout), memset(buffer, 1, sizeof buffer);
        size_t size = 7000;
        while (size > 0 && buffer[size - 1] == 1)
            size--;
        fwrite(buffer, 1, size, stdout);
    } else if (is(how, "unget")) {
        while ((c = getchar()) != EOF) {
            ungetc('#', stdin);
            getchar();
            ungetc(c, stdin);
            putchar(getchar());
        }
    } else if (is(how, "scanf")) {
        while (scanf("line %d", &number) == 1)
            printf("line %d\n", number);
        while (scanf("%d%c", &number, buffer) == 2)
            printf("%d%c", number, *buffer);
        while ((c = getchar()) != EOF)
            putchar(c);
    } else if (is(how, "unbuffered")) {
        setvbuf(stdin, NULL, _IONBF, 0);
        fputs(fgets(buffer, 100, stdin), stdout);
        fputs(fgets(buffer, 4, stdin), stdout);
        while ((c = getchar()) != EOF)
            putchar(c);
    }
    fflush(stdout);
}

static int start(char *const *arguments)
{
    int status = 0;
    if (fork() == 0) {
        execv(arguments[0], arguments);
        _exit(9);
    }
    wait(&status);
    return status;
}

static int have_a_family(char *self)
{
    int status = 0;
    read_file("parent");
    if (fork() == 0) {
        read_file("child");
        exit(1);
    }
    wait(&status);
    char *arguments[] = {self, "read", "executed", NULL};
    return start(arguments);
}

static int close_all(void)
{
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    /* Every number that could be the log's is now one of ours. */
    int own = open("own", O_WRONLY | O_CREAT, 0666);
    for (int fd = own + 1; fd < 1024; fd++)
        dup2(own, fd);
    read_file("in");
    write(own, "own content", 11);
    return 0;
}

/* What the kernel says about paths that are none. */
static void use_bad_paths(void)
{
    static char long_path[6000];
    struct stat record;
    int answers[5];
    memset(long_path, 'x', sizeof long_path - 1);
    errno = 0;
    open((const char *)(size_t)3, O_RDONLY);
    answers[0] = errno;
    unlink("");
    answers[1] = errno;
    stat(long_path, &record);
    answers[2] = errno;
    access("probe/x", F_OK);
    answers[3] = errno;
    openat(77, "x", O_RDONLY);
    answers[4] = errno;
    printf("%d %d %d %d %d\n", answers[0], answers[1], answers[2], answers[3], answers[4]);
}

int main(int count, char **arguments)
{
    const char *what = count > 1 ? arguments[1] : "nothing";
    const char *first = count > 2 ? arguments[2] : "";
    if (is(what, "status"))
        return atoi(first);
    if (is(what, "quick"))
        quick_exit(atoi(first));
    if (is(what, "at-once"))
        _exit(atoi(first));
    if (is(what, "abort"))
        abort();
    if (is(what, "paths"))
        use_paths();
    if (is(what, "read"))
        return read_file(first);
    if (is(what, "both"))
        return read_file(first) + read_file(arguments[3]);
    if (is(what, "stdin"))
        use_stdin(first);
    if (is(what, "family"))
        return have_a_family(arguments[0]);
    if (is(what, "become")) {
        char *next[] = {arguments[0], "read", "child", NULL};
        execv(next[0], next);
        return 9;
    }
    if (is(what, "close-all"))
        return close_all();
    if (is(what, "count-descriptors")) {
        int count = 0;
        while (open("in", O_RDONLY) >= 0)
            count++;
        printf("%d\n", count);
    }
    if (is(what, "bad"))
        use_bad_paths();
    return 0;
}
