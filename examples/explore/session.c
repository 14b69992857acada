//@ command = """nearmiss explore session.c --function run_session --pre run_session_pre --oracle check_run_session \
//@   --size events=n --range n=0..4 --range events=0..4"""
//@ large = "--range n=0..9"
//@ require = ["n == 0 || events[0] == CONNECT", "forall i in 0..n-1: !(events[i] == CLOSE && events[i+1] == CLOSE)"]
#include <stdbool.h>

enum event { CONNECT, ACCEPT, DATA, CLOSE, FAIL };
enum state { IDLE, WAITING, OPEN, CLOSING, BROKEN };

// What becomes of a connection in these events.
enum state run_session(const enum event *events, int n)
{
    enum state state = IDLE;
    int unanswered = 0;
    for (int i = 0; i < n && state != BROKEN; i++) {
        enum event event = events[i];
        switch (state) {
        case IDLE:
            if (event == CONNECT)
                state = WAITING;
            else
                state = BROKEN;
            break;
        case WAITING:
            if (event == ACCEPT)
                state = OPEN;
            else if (event == CLOSE)
                state = IDLE;
            else
                state = BROKEN;
            break;
        case OPEN:
            if (event == DATA)
                unanswered++;
            else if (event == ACCEPT && unanswered > 0)
                unanswered--;
            else if (event == CLOSE)
                state = CLOSING;
            else
                state = BROKEN;
            break;
        case CLOSING:
            if (event == CLOSE && unanswered == 0)
                state = IDLE;
            else if (event == ACCEPT && unanswered > 0)
                unanswered--;
            else
                state = BROKEN;
            break;
        case BROKEN:
            break;
        }
    }
    return state;
}

// Somebody connects first, and nobody closes twice in a row.
bool run_session_pre(const enum event *events, int n)
{
    for (int i = 0; i < n; i++) {
        if (i == 0 && events[i] != CONNECT)
            return false;
        if (i > 0 && events[i - 1] == CLOSE && events[i] == CLOSE)
            return false;
    }
    return true;
}

// No failure is survived, and nothing is closed by one word alone.
bool check_run_session(const enum event *events, int n, enum state result)
{
    int failures = 0, closed = 0;
    for (int i = 0; i < n; i++) {
        failures += events[i] == FAIL;
        closed += events[i] == CLOSE;
    }
    if (failures > 0 && result != BROKEN)
        return false;
    return result != CLOSING || closed > 0;
}
