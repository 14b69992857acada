// See driver.h. Prints how many different paths there are, and on how many admissible inputs.
#include "driver.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST_CHOICES 64

// What was chosen, and what can be: the next input is the next number of this kind.
static int chosen[MOST_CHOICES], last[MOST_CHOICES];
static int made, known;

static int recording;
static uint64_t path[2];
static unsigned long inputs;

// The paths that were seen: pairs of hashes in a table that doubles.
static uint64_t (*seen)[2];
static size_t room, paths;

int choose(int least, int most)
{
    if (made == MOST_CHOICES || least > most)
        abort();
    if (made == known) {
        chosen[known] = least;
        known++;
    }
    last[made] = most;
    return chosen[made++];
}

static int next_input(void)
{
    known = made;
    while (known > 0 && chosen[known - 1] == last[known - 1])
        known--;
    if (known == 0)
        return 0;
    chosen[known - 1]++;
    return 1;
}

static void add(uint64_t first, uint64_t second)
{
    size_t at = first & (room - 1);
    while (seen[at][0] != 0 || seen[at][1] != 0) {
        if (seen[at][0] == first && seen[at][1] == second)
            return;
        at = (at + 1) & (room - 1);
    }
    seen[at][0] = first;
    seen[at][1] = second;
    paths++;
}

static void grow(void)
{
    uint64_t(*old)[2] = seen;
    size_t old_room = room;
    room = room ? 2 * room : 1024;
    seen = calloc(room, sizeof *seen);
    if (!seen)
        abort();
    paths = 0;
    for (size_t i = 0; i < old_room; i++)
        if (old[i][0] != 0 || old[i][1] != 0)
            add(old[i][0], old[i][1]);
    free(old);
}

void begin(void)
{
    inputs++;
    path[0] = 1;
    path[1] = 2;
    recording = 1;
}

void end(void)
{
    recording = 0;
    if (2 * (paths + 1) > room)
        grow();
    add(path[0], path[1]);
}

static uint64_t mixed(uint64_t hash, uint64_t number, uint64_t factor)
{
    hash = (hash ^ number) * factor;
    return hash ^ hash >> 29;
}

void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *stop)
{
    for (uint32_t number = 1; start < stop; start++)
        *start = number++;
}

void __sanitizer_cov_trace_pc_guard(uint32_t *guard)
{
    if (!recording)
        return;
    path[0] = mixed(path[0], *guard, 0x9e3779b97f4a7c15u);
    path[1] = mixed(path[1], *guard, 0xc2b2ae3d27d4eb4fu);
}

int main(void)
{
    do {
        made = 0;
        once();
    } while (next_input());
    printf("%zu %lu\n", paths, inputs);
    return 0;
}
