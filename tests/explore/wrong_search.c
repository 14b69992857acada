//@ command = """nearmiss explore wrong_search.c --function search --pre search_pre --oracle check_search \
//@   --size t=n --range n=0..3"""
// The upper end is one too high.
int search(const int *t, int n, int key)
{
    int low = 0, high = n;
    while (low <= high) {
        int middle = (low + high) / 2;
        if (t[middle] == key) //~ error[out-of-bounds-read]
            return middle;
        if (t[middle] < key)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return -1;
}

int search_pre(const int *t, int n, int key)
{
    (void)key;
    for (int i = 1; i < n; i++)
        if (t[i - 1] > t[i])
            return 0;
    return 1;
}

int check_search(const int *t, int n, int key, int result)
{
    return result == -1 || (result < n && t[result] == key);
}
