/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Objects of C++, for record-names.sh: names that have to be demangled, blocks of new and
 * of containers, an allocation that fails by an exception. */
#include <strata/strata.h>

#include <cstdio>
#include <map>
#include <memory>
#include <new>
#include <vector>

#define APART __attribute__((noinline))

extern "C" APART long touch(const volatile char *bytes, size_t size)
{
    long sum = 0;
    for (size_t i = 0; i < size; i += 64)
        sum += bytes[i];
    return sum;
}

static APART void visit(const void *block, size_t size)
{
    vpmu_flush();
    strata_start();
    touch(static_cast<const char *>(block), size);
    strata_stop();
}

namespace geometry
{
struct point {
    double x, y, z;
};

double grid[512];

template <typename T, int N> struct table {
    static T values[N];
    T *cells = nullptr;
    APART void grow()
    {
        cells = new T[N];
        visit(cells, N * sizeof(T));
    }
    ~table()
    {
        delete[] cells;
    }
};
template <typename T, int N> T table<T, N>::values[N];

class mesh
{
  public:
    APART explicit mesh(size_t n) : points(n)
    {
        visit(points.data(), n * sizeof(point));
    }
    APART long shade() const
    {
        static int palette[700];
        visit(palette, sizeof palette);
        return palette[0];
    }

  private:
    std::vector<point> points;
};
} // namespace geometry

static APART void single()
{
    auto *point = new geometry::point[200];
    visit(point, 200 * sizeof *point);
    delete[] point;
    auto one = std::make_unique<geometry::point>();
    visit(one.get(), sizeof *one);
}

/* A call of the allocator that never returns must not be taken for one that did. */
static APART bool too_large(size_t size)
{
    try {
        char *volatile block = new char[size];
        delete[] block;
    } catch (const std::bad_alloc &) {
        return true;
    }
    return false;
}

/* The same call fails twice, and then it does not. */
static APART void until_it_works(size_t size)
{
    for (int tries = 0;; tries++)
        try {
            size_t now = tries < 2 ? size : 9000;
            char *volatile block = new char[now];
            visit(block, now);
            delete[] block;
            return;
        } catch (const std::bad_alloc &) {
        }
}

static APART void after_exception()
{
    auto *block = new char[12345];
    visit(block, 12345);
    delete[] block;
}

int main(int n, char **)
{
    visit(geometry::grid, sizeof geometry::grid);
    geometry::table<int, 900> table;
    table.grow();
    visit(table.values, sizeof table.values);
    geometry::mesh mesh(300);
    mesh.shade();
    single();
    bool failed = too_large(size_t{1} << (n + 60));
    until_it_works(size_t{1} << (n + 60));
    after_exception();
    std::map<int, long> tree;
    for (int i = 0; i < 100; i++)
        tree[i] = i;
    std::puts(failed ? "done" : "too much memory");
    return 0;
}
