// What all programs here share. Each has one failure, a test that passes, and an input that shows the failure:
// SEEDED(name, arguments of the test, its standard input, arguments that fail, standard input that fails). Between two
// arguments stands a bar.
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEEDED(name, words, input, bad_words, bad_input) static int name(int argc, char **argv)

static char text[4096];
static size_t size;

// All of standard input.
static void slurp(void)
{
    size = fread(text, 1, sizeof text - 1, stdin);
    text[size] = 0;
}

static int BUG(int argc, char **argv);

int main(int argc, char **argv)
{
    return BUG(argc, argv);
}
