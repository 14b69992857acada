/* Input by streams: argv[1] is a file with "first line\nsecond\n\0zero\nrest", argv[2] one to
   write. Standard input is a pipe with the same bytes. */
#include "test.h"

FILE *__nm_model_fopen(const char *, const char *);
FILE *__nm_model_fdopen(int, const char *);
int __nm_model_fclose(FILE *);
size_t __nm_model_fread(void *, size_t, size_t, FILE *);
char *__nm_model_fgets(char *, int, FILE *);
int __nm_model_getc(FILE *);
int __nm_model_getchar(void);
int __nm_model_ungetc(int, FILE *);
ssize_t __nm_model_getline(char **, size_t *, FILE *);
int __nm_model_fseek(FILE *, long, int);
void __nm_model_rewind(FILE *);
int __nm_model_open(const char *, int, ...);

/* getc as instrumented code calls it. */
static int get(FILE *file, uint32_t *label)
{
    __nm_thread.returned = 0;
    int c = __nm_model_getc(file);
    *label = 0;
    if (__nm_thread.returned)
        *label = __nm_returned(ADDRESS(__nm_model_getc), (uint32_t)c, 32, 0);
    CHECK(__nm_thread.returned == 0);
    return c;
}

static void read_file(const char *path)
{
    uint32_t label;
    FILE *file = __nm_model_fopen(path, "r");
    CHECK(file);
    CHECK(get(file, &label) == 'f');
    SHOW("getc", label);
    CHECK(get(file, &label) == 'i');
    CHECK(__nm_model_ungetc('i', file) == 'i');
    CHECK(get(file, &label) == 'i');
    SHOW("again", label);
    CHECK(__nm_model_ungetc('X', file) == 'X');
    CHECK(get(file, &label) == 'X');
    SHOW("own", label);
    CHECK(get(file, &label) == 'r');
    SHOW("after-own", label);

    char line[64];
    memset(line, 'x', sizeof line);
    __nm_fill(ADDRESS(line), sizeof line, label);
    CHECK(__nm_model_fgets(line, sizeof line, file) && !strcmp(line, "st line\n"));
    SHOW("fgets", label_of(line));
    SHOW("fgets-end", label_of(line + 7));
    SHOW("fgets-zero", label_of(line + 8));

    /* libc's own function reads on: the runtime must notice. */
    char word[16];
    CHECK(fscanf(file, "%3s", word) == 1 && !strcmp(word, "sec"));
    CHECK(get(file, &label) == 'o');
    SHOW("after-scanf", label);

    char *own = NULL;
    size_t room = 0;
    CHECK(__nm_model_getline(&own, &room, file) == 3);
    SHOW("getline", label_of(own));
    CHECK(__nm_model_getline(&own, &room, file) == 6 && own[0] == 0 && own[1] == 'z');
    SHOW("getline-zero", label_of(own + 1));

    CHECK(__nm_model_fseek(file, 6, SEEK_SET) == 0);
    CHECK(__nm_model_fread(line, 2, 2, file) == 2);
    SHOW("fread", label_of(line + 3));
    __nm_model_rewind(file);
    CHECK(get(file, &label) == 'f');
    SHOW("rewind", label);
    CHECK(__nm_model_fread(line, 60, 1, file) == 0);
    SHOW("partial", label_of(line + 20));
    CHECK(get(file, &label) == EOF);
    SHOW("end", label);
    CHECK(__nm_model_fclose(file) == 0);

    file = __nm_model_fdopen(__nm_model_open(path, 0), "r");
    CHECK(__nm_model_fgets(line, 4, file) && !strcmp(line, "fir"));
    SHOW("fdopen", label_of(line + 2));
    __nm_model_fclose(file);
}

static void read_pipe(void)
{
    char line[64];
    CHECK(__nm_model_getchar() == 'f');
    SHOW("getchar", __nm_returned(ADDRESS(__nm_model_getchar), 'f', 32, 0));
    CHECK(__nm_model_fgets(line, sizeof line, stdin) && !strcmp(line, "irst line\n"));
    SHOW("pipe-fgets", label_of(line + 1));
    char word[16];
    CHECK(scanf("%3s", word) == 1);
    CHECK(__nm_model_fread(line, 1, 4, stdin) == 4 && !memcmp(line, "ond\n", 4));
    SHOW("pipe-after-scanf", label_of(line));
}

static void read_own(const char *path)
{
    FILE *file = __nm_model_fopen(path, "w");
    CHECK(fputs("own", file) >= 0 && __nm_model_fclose(file) == 0);
    file = __nm_model_fopen(path, "r");
    char line[8];
    CHECK(__nm_model_fgets(line, sizeof line, file));
    SHOW("written-here", label_of(line));
    __nm_model_fclose(file);
}

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    errno = 55;
    read_file(argv[1]);
    read_pipe();
    read_own(argv[2]);
    return 0;
}
