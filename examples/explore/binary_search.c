//@ command = """nearmiss explore binary_search.c --function binary_search --pre binary_search_pre \
//@   --oracle check_binary_search --size t=n --range n=0..4 --range t=0..4 --range key=-1..5"""
//@ large = "--range n=0..40 --range t=-100000..100000 --range key=-200000..200000"
//@ require = ["forall i in 0..n-1: t[i] < t[i+1]"]

// The place of a key in an array that rises, or -1.
int binary_search(const int *t, int n, int key)
{
    int low = 0, high = n - 1;
    while (low <= high) {
        int middle = low + (high - low) / 2;
        if (t[middle] == key)
            return middle;
        if (t[middle] < key)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return -1;
}

int binary_search_pre(const int *t, int n, int key)
{
    (void)key;
    for (int i = 1; i < n; i++)
        if (t[i - 1] >= t[i])
            return 0;
    return 1;
}

int check_binary_search(const int *t, int n, int key, int result)
{
    if (result != -1)
        return result >= 0 && result < n && t[result] == key;
    for (int i = 0; i < n; i++)
        if (t[i] == key)
            return 0;
    return 1;
}
