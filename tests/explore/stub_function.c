//@ command = "nearmiss explore stub_function.c --function average --stub reading --range reading()=-1..1000 --loops 3"
//@ paths = 3
//@ incomplete = "bounds"
// Nobody defines `reading`: what it gives back is an input, the third result again and again.
int reading(int channel);

int average(int channel)
{
    int sum = 0, count = 0, value;
    while ((value = reading(channel)) >= 0) {
        sum += value;
        count++;
    }
    if (count == 0)
        return -1;
    return sum / count;
}
