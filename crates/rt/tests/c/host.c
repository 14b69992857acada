/* A program that loads a shared library (argv[1]); without instrumentation of its own unless
   compiled with -DINSTRUMENTED. argv[2] is input. */
#include <dlfcn.h>

#ifdef INSTRUMENTED
#include "test.h"
#else
#include <stdio.h>
#include <stdlib.h>
#define CHECK(condition) ((condition) ? (void)0 : (puts(#condition), exit(99)))
#endif

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    setenv("MAKES", "a new environment", 1);
    for (int turn = 0; turn < 2; turn++) {
        void *library = dlopen(argv[1], RTLD_NOW);
        if (!library)
            puts(dlerror());
        CHECK(library);
        int (*work)(const char *) = (int (*)(const char *))dlsym(library, "library_work");
        CHECK(work(argv[2]) == (getenv("NEARMISS_RECORD") != NULL));
        CHECK(dlclose(library) == 0);
    }
#ifdef INSTRUMENTED
    uint32_t equal = binary(EQ, 8, label_of(argv[2] + 1), 0, (uint8_t)argv[2][1], 'y');
    __nm_branch(equal, argv[2][1] == 'y', 22);
#endif
    return 0;
}
