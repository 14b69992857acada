// Control flow that is chosen by values.
#include "bomb.h"

static int none(void) { return 0; }
static int yes(void) { return 1; }

int table_of_functions(const char *s)
{
    int (*table[])(void) = { none, none, none, yes, none };
    return table[(unsigned char)s[0] % 5]();
}

int computed_goto(const char *s)
{
    static void *const targets[] = { &&out, &&out, &&step, &&out };
    int x = 0;
    goto *targets[s[0] & 3];
step:
    x = 1;
out:
    return x;
}

int value_by_switch(const char *s)
{
    int x;
    switch (s[0]) {
    case 'a': x = 9; break;
    case 'b': x = 4; break;
    case 'c': x = 7; break;
    case 'd': x = 2; break;
    default: x = 1; break;
    }
    switch (s[1]) {
    case 'p': x *= 6; break;
    case 'q': x += 8; break;
    }
    return x == 42;
}

static int opcode(int accumulator, char op)
{
    switch (op) {
    case '+': return accumulator + 3;
    case '*': return accumulator * 2;
    case '-': return accumulator - 1;
    default: return 0;
    }
}

int small_machine(const char *s)
{
    int accumulator = 1;
    for (int i = 0; i < 4 && s[i]; i++)
        accumulator = opcode(accumulator, s[i]);
    return accumulator == 15;
}

int bits_by_branches(const char *s)
{
    int x = 0;
    for (int bit = 0; bit < 8; bit++)
        if (s[0] >> bit & 1)
            x |= 1 << (7 - bit);
    return x == 0xb2;
}
