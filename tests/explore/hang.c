//@ command = "nearmiss explore hang.c --function wait_for --run-time 2s"
//@ paths = 2
//@ incomplete = "--run-time"
// One path does not end; it is one, all the same.
int wait_for(int event)
{
    volatile int stuck = 1;
    if (event == 3)
        while (stuck)
            ;
    return event;
}
