// Insertion sort.
void sort(int *t, int n)
{
    for (int i = 1; i < n; i++) {
        int value = t[i], at = i;
        for (; at > 0 && t[at - 1] > value; at--)
            t[at] = t[at - 1];
        t[at] = value;
    }
}
