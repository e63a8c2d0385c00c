! SPDX-License-Identifier: BSD-3-Clause
!
! In the manner of tomcatv: a mesh is made smooth. Residuals by differences of the mesh, a
! tridiagonal system for each column, a correction of the mesh. The arrays are members of
! a common block.
program tomcatv
  implicit none
  integer, parameter :: n = 513, steps = 100
  real(8) :: x(n, n), y(n, n), rx(n, n), ry(n, n), aa(n, n), dd(n, n), d(n, n)
  common /mesh/ x, y, rx, ry, aa, dd, d
  integer :: i, j, step
  do j = 1, n
    do i = 1, n
      x(i, j) = i + 0.3d0 * sin(0.1d0 * j)
      y(i, j) = j + 0.3d0 * sin(0.1d0 * i)
    end do
  end do
  do step = 1, steps
    call residuals
    call solve
    call correct
  end do
  print '(2es16.8)', sum(x), sum(y)
contains
  subroutine residuals
    real(8) :: xx, yx, xy, yy, a, b, c
    do j = 2, n - 1
      do i = 2, n - 1
        xx = x(i + 1, j) - x(i - 1, j)
        yx = y(i + 1, j) - y(i - 1, j)
        xy = x(i, j + 1) - x(i, j - 1)
        yy = y(i, j + 1) - y(i, j - 1)
        a = 0.25d0 * (xy * xy + yy * yy)
        b = 0.25d0 * (xx * xx + yx * yx)
        c = 0.125d0 * (xx * xy + yx * yy)
        aa(i, j) = -b
        dd(i, j) = b + b + a + 1
        rx(i, j) = a * (x(i + 1, j) - 2 * x(i, j) + x(i - 1, j)) - c * xy
        ry(i, j) = a * (y(i + 1, j) - 2 * y(i, j) + y(i - 1, j)) - c * yy
      end do
    end do
  end subroutine

  subroutine solve
    real(8) :: r
    do i = 2, n - 1
      d(i, 2) = 1 / dd(i, 2)
    end do
    do j = 3, n - 1
      do i = 2, n - 1
        r = aa(i, j) * d(i, j - 1)
        d(i, j) = 1 / (dd(i, j) - aa(i, j - 1) * r)
        rx(i, j) = rx(i, j) - rx(i, j - 1) * r
        ry(i, j) = ry(i, j) - ry(i, j - 1) * r
      end do
    end do
    do j = n - 2, 2, -1
      do i = 2, n - 1
        rx(i, j) = (rx(i, j) - aa(i, j) * rx(i, j + 1)) * d(i, j)
        ry(i, j) = (ry(i, j) - aa(i, j) * ry(i, j + 1)) * d(i, j)
      end do
    end do
  end subroutine

  subroutine correct
    do j = 2, n - 1
      do i = 2, n - 1
        x(i, j) = x(i, j) + 0.01d0 * rx(i, j)
        y(i, j) = y(i, j) + 0.01d0 * ry(i, j)
      end do
    end do
  end subroutine
end program
