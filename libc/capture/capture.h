/* What the functions in C share with those of crates/rt-capture: see src/rows.rs there. */
#ifndef NEARMISS_CAPTURE_H
#define NEARMISS_CAPTURE_H

#include <stdint.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* Where a function that captures finds the real one, and when it is switched over. */
struct nm_place {
    void *real;
    uint32_t when, linking;
};

enum { NM_CAPTURED, NM_READING };

#define NM_PLACE(name, when) HIDDEN struct nm_place __nm_place_##name = {0, when, 0}

/* What a stream has read ahead (struct Ahead in crates/rt-base/src/streams.rs). */
struct nm_ahead {
    uint64_t read, end, base, available;
};

/* Whether bytes of standard input are captured. */
HIDDEN int __nm_capture_is_watched(void);
/* Around a function that reads a stream in its own way; the second one only if the first one says so. */
HIDDEN int __nm_capture_before(void *file, struct nm_ahead *known);
HIDDEN void __nm_capture_after(void *file, const struct nm_ahead *known);
/* What a stream can give without asking its descriptor. */
HIDDEN uint64_t __nm_capture_available(void *file);

#endif
