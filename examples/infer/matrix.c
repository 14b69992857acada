/* A matrix times a vector. */
void product(const int *m, const int *v, int *out, int rows, int columns)
{
    for (int i = 0; i < rows; i++) {
        out[i] = 0;
        for (int j = 0; j < columns; j++)
            out[i] += m[i * columns + j] * v[j];
    }
}
