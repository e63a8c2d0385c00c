/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Variables of C whose names and sizes test_symbols.c knows: globals, statics, statics of
 * one name in two functions, one in a function that is inlined everywhere, a struct that is
 * larger than its type, an alias, one that is thread-local and one that is not used. */
struct flexible {
    int n;
    int values[];
};

int numbers[100];
double table[8] = {1.5};
static int hidden[5] = {1, 2};
struct flexible flexible = {3, {1, 2, 3}};
const char text[12] = "constant";
_Thread_local int per_thread[3];
extern int same[100] __attribute__((alias("numbers")));
int unused[33];

static inline __attribute__((always_inline)) int inlined(int x)
{
    static int hits[7];
    return hits[x % 7] += x;
}

__attribute__((noinline)) int first(int x)
{
    static int cache[9];
    return cache[x % 9]++;
}

__attribute__((noinline)) int second(int x)
{
    static int cache[11];
    {
        static int within[13];
        cache[1] += within[x % 13]++;
    }
    return cache[x % 11]++;
}

int work(int n);
int work(int n)
{
    numbers[n] += hidden[n % 5]++;
    table[n % 8] += flexible.values[n % 3] + text[n % 12];
    per_thread[n % 3]++;
    return inlined(n) + inlined(n + 1) + first(n) + second(n) + same[n];
}

int main(int argc, char **argv)
{
    (void)argv;
    return work(argc) > 1000;
}
