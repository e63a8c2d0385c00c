# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# make install and uninstall, into a folder of their own.
. tests/cli/lib.sh

build=$(dirname "$strata")
make_it() {
    make -s BUILD="$build" DESTDIR="$work/root" PREFIX=/usr "$@" >"$work/log" 2>&1 && return
    cat "$work/log"
    return 1
}
check 'make install' make_it install
usr=$work/root/usr
check 'the program runs' [ "$("$usr/bin/strata" version | head -n 1)" = "strata $(cat VERSION)" ]
for file in lib/libstrata.a lib/libstrata.so lib/libstrata.so.0 include/strata/probe.h \
    include/strata/machine.h include/strata/error.h lib/pkgconfig/strata.pc \
    share/man/man1/strata.1 share/man/man1/strata-probe.1 \
    share/strata/machines/generic.machine share/bash-completion/completions/strata \
    share/zsh/site-functions/_strata share/fish/vendor_completions.d/strata.fish; do
    check "$file is there" [ -s "$usr/$file" ]
done
check 'every machine is there' [ "$(find machines -name '*.machine' | wc -l)" -eq \
    "$(find "$usr/share/strata/machines" -name '*.machine' | wc -l)" ]

# A program outside of the project needs only the public headers.
for header in error machine probe; do
    printf '#include <strata/%s.h>\nint unused;\n' $header >"$work/use.c"
    check "strata/$header.h stands alone" "${CC:-cc}" -std=c99 -pedantic -Wall -Wextra \
        -Werror -I"$usr/include" -fsyntax-only "$work/use.c"
done
pc() { PKG_CONFIG_PATH=$usr/lib/pkgconfig pkg-config "$@" strata; }
check 'pkg-config knows the version' [ "$(pc --modversion)" = "$(cat VERSION)" ]
check 'pkg-config knows the library' sh -c "echo '$(pc --libs)' | grep -q -e -lstrata"


# The example, against what was installed
example() {
    # shellcheck disable=SC2046 # a list of flags
    PKG_CONFIG_SYSROOT_DIR=$work/root PKG_CONFIG_PATH=$usr/lib/pkgconfig \
        "${CC:-cc}" -O2 examples/tile.c -o "$work/tile" \
        $(PKG_CONFIG_SYSROOT_DIR=$work/root pc --cflags --libs)
}
if nm -D "$usr/lib/libstrata.so" | grep -q __asan_init; then
    echo 'skip: a library with sanitizers is not for others'
else
    check 'the example compiles' example
    LD_LIBRARY_PATH=$usr/lib "$work/tile" --nonsense >"$work/out" 2>&1
    status=$?
    check 'and finds its library' [ $status -eq 2 ]
    [ $status -eq 2 ] || cat "$work/out"
fi

check 'make uninstall' make_it uninstall
check 'nothing is left' [ -z "$(find "$work/root" -type f -o -type l)" ]
finish
