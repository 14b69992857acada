/* The mean of some measurements. */

int average(const int *t, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += t[i];
    return sum / n;
}
