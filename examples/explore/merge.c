//@ command = """nearmiss explore merge.c --function merge --pre merge_pre --oracle check_merge \
//@   --size t1=n1 --size t2=n2 --size t3=n1+n2 --range n1=0..2 --range n2=0..3 --range t1=0..4 --range t2=0..4"""
//@ large = "--range n1=0..5 --range n2=0..9 --range t1=-1000..1000 --range t2=-1000..1000"
//@ require = ["forall i in 0..n1-1: t1[i] <= t1[i+1]", "forall i in 0..n2-1: t2[i] <= t2[i+1]"]

// Merges two sorted arrays into a third one.
void merge(const int *t1, int n1, const int *t2, int n2, int *t3)
{
    int i = 0, j = 0, k = 0;
    while (i < n1 && j < n2) {
        if (t1[i] <= t2[j])
            t3[k++] = t1[i++];
        else
            t3[k++] = t2[j++];
    }
    while (i < n1)
        t3[k++] = t1[i++];
    while (j < n2)
        t3[k++] = t2[j++];
}

static int sorted(const int *t, int n)
{
    for (int i = 0; i + 1 < n; i++)
        if (t[i] > t[i + 1])
            return 0;
    return 1;
}

int merge_pre(const int *t1, int n1, const int *t2, int n2, int *t3)
{
    (void)t3;
    return sorted(t1, n1) && sorted(t2, n2);
}

static int count(int value, const int *t, int n)
{
    int found = 0;
    for (int i = 0; i < n; i++)
        found += t[i] == value;
    return found;
}

// Sorted, and everything is in it as often as it was given.
int check_merge(const int *t1, int n1, const int *t2, int n2, const int *t3)
{
    for (int i = 0; i < n1 + n2; i++)
        if (count(t3[i], t3, n1 + n2) != count(t3[i], t1, n1) + count(t3[i], t2, n2))
            return 0;
    return sorted(t3, n1 + n2);
}
