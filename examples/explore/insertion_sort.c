//@ command = """nearmiss explore insertion_sort.c --function insertion_sort --pre insertion_sort_pre \
//@   --oracle check_insertion_sort --size t=n --range n=0..4 --range t=0..4"""
//@ large = "--range n=0..7 --range t=-1000..1000"
//@ require = ["exists k in 0..n+1: forall i in 0..n-1: i + 1 == k || t[i] <= t[i+1]"]

// Sorts an array.
void insertion_sort(int *t, int n)
{
    for (int i = 1; i < n; i++) {
        int value = t[i], j = i;
        while (j > 0 && t[j - 1] > value) {
            t[j] = t[j - 1];
            j--;
        }
        t[j] = value;
    }
}

// Nearly sorted: two sorted runs, one behind the other.
int insertion_sort_pre(const int *t, int n)
{
    int falls = 0;
    for (int i = 0; i + 1 < n; i++) {
        if (t[i] > t[i + 1])
            falls++;
        if (falls > 1)
            return 0;
    }
    return 1;
}

int check_insertion_sort(const int *t, int n, const int *old_t)
{
    for (int i = 0; i < n; i++) {
        int more = 0;
        for (int j = 0; j < n; j++)
            more += (t[j] == t[i]) - (old_t[j] == t[i]);
        if (more != 0 || (i > 0 && t[i - 1] > t[i]))
            return 0;
    }
    return 1;
}
