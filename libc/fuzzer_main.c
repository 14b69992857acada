/* `main` for a libFuzzer target: an archive member that is linked only if nobody else has one.
 *
 * Runs the target once on each file of the command line, or on standard input without any;
 * arguments that start with a dash are libFuzzer's options and mean nothing here.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);

/* Reads all of a stream into memory of exactly its size, so that one byte further is outside. */
static uint8_t *read_all(FILE *stream, size_t *size)
{
    size_t room = 4096;
    uint8_t *bytes = malloc(room);
    *size = 0;
    while (bytes != NULL) {
        size_t got = fread(bytes + *size, 1, room - *size, stream);
        *size += got;
        if (got == 0)
            break;
        if (*size == room)
            bytes = realloc(bytes, room *= 2);
    }
    if (bytes == NULL || ferror(stream)) {
        perror("reading the input");
        exit(1);
    }
    uint8_t *exact = realloc(bytes, *size > 0 ? *size : 1);
    return exact != NULL ? exact : bytes;
}

static void run_on(FILE *stream)
{
    size_t size;
    uint8_t *bytes = read_all(stream, &size);
    LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
}

int main(int argc, char **argv)
{
    if (LLVMFuzzerInitialize)
        LLVMFuzzerInitialize(&argc, &argv);
    int files = 0;
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-')
            continue;
        FILE *stream = fopen(argv[i], "rb");
        if (stream == NULL) {
            perror(argv[i]);
            return 1;
        }
        run_on(stream);
        fclose(stream);
        files++;
    }
    if (files == 0)
        run_on(stdin);
    return 0;
}
