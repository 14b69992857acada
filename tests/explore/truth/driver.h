// Counts the paths of a function by running it on every input of a small domain; nearmiss has no
// part in it.
//
// A file that includes this defines `once`: it chooses an input, leaves inputs that the precondition
// refuses, and calls the function between `begin` and `end`. It is compiled with
// -fsanitize-coverage=bb,no-prune,trace-pc-guard, which calls back in every basic block.
#ifndef DRIVER_H
#define DRIVER_H

// One of the numbers from `least` to `most`; every one of them in some call of `once`.
int choose(int least, int most);

// From here on blocks are part of the path.
void begin(void);
// To here.
void end(void);

// Fills an array.
#define CHOOSE_ALL(array, count, least, most)  \
    for (int at = 0; at < (int)(count); at++) \
    (array)[at] = choose(least, most)

// Fills a string of at most `length` characters.
#define CHOOSE_STRING(array, length, least, most)                                                       \
    do {                                                                                                \
        int count = choose(0, length);                                                                  \
        CHOOSE_ALL(array, count, least, most);                                                          \
        (array)[count] = 0;                                                                             \
    } while (0)

void once(void);

#endif
