//@ command = """nearmiss explore triangular.c --function square_is_zero --pre square_is_zero_pre \
//@   --oracle check_square_is_zero --size m=n --range n=0..3 --range m=-1..1"""
//@ large_flags = ["-DSIDE=5"]
//@ large = "--range n=5..5 --range m=-9..9"
//@ require = ["forall i in 0..n: forall j in 0..i+1: m[i][j] == 0"]
#ifndef SIDE
#define SIDE 3
#endif

// Whether the square of a matrix is zero; most of its elements are, so products with one are left out.
int square_is_zero(int n, const int m[][SIDE])
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            int sum = 0;
            for (int k = 0; k < n; k++) {
                if (m[i][k] == 0)
                    continue;
                sum += m[i][k] * m[k][j];
            }
            if (sum != 0)
                return 0;
        }
    }
    return 1;
}

// Upper triangular, with zeros on the diagonal too.
int square_is_zero_pre(int n, const int m[][SIDE])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            if (m[i][j] != 0)
                return 0;
    return 1;
}

int check_square_is_zero(int n, const int m[][SIDE], int result)
{
    int different = 0;
    for (int i = 0; i < n; i++) {
        for (int j = i + 1; j < n; j++) {
            int sum = 0;
            for (int k = i + 1; k < j; k++)
                sum += m[i][k] * m[k][j];
            different |= sum;
        }
    }
    return result == (different == 0);
}
