/* The runtime's words in a program that has no runtime.
 *
 * The sanitizer twin of a program is made of its units as they were before instrumentation,
 * the models among them. Nobody calls those, but they must link: here is a summary that says
 * that nothing is recorded.
 */
#include "model.h"

static const unsigned char zeros[64];

struct nm_summary_words __nm_summary = {zeros, 0, 0, 0};
