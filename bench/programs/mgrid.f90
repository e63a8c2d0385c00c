! SPDX-License-Identifier: BSD-3-Clause
!
! In the manner of mgrid: a multigrid solver in three dimensions. U and R hold the grids of
! all levels, the finest first, V the right-hand side.
module grids
  implicit none
  integer, parameter :: n = 96, levels = 3, cycles = 12
  integer, parameter :: room = n**3 + (n / 2)**3 + (n / 4)**3
  real(8) :: u(room), r(room), v(n**3)
contains
  subroutine residual(m, a, b, c)
    integer, intent(in) :: m
    real(8), intent(in) :: a(m, m, m), b(m, m, m)
    real(8), intent(out) :: c(m, m, m)
    integer :: i, j, k
    do k = 2, m - 1
      do j = 2, m - 1
        do i = 2, m - 1
          c(i, j, k) = b(i, j, k) + 6 * a(i, j, k) - a(i - 1, j, k) - a(i + 1, j, k) - &
                       a(i, j - 1, k) - a(i, j + 1, k) - a(i, j, k - 1) - a(i, j, k + 1)
        end do
      end do
    end do
  end subroutine

  subroutine smooth(m, c, a)
    integer, intent(in) :: m
    real(8), intent(in) :: c(m, m, m)
    real(8), intent(inout) :: a(m, m, m)
    integer :: i, j, k
    do k = 2, m - 1
      do j = 2, m - 1
        do i = 2, m - 1
          a(i, j, k) = a(i, j, k) - 0.1d0 * c(i, j, k) - 0.01d0 * (c(i - 1, j, k) + &
                       c(i + 1, j, k) + c(i, j, k - 1) + c(i, j, k + 1))
        end do
      end do
    end do
  end subroutine

  subroutine coarser(m, fine, coarse)
    integer, intent(in) :: m
    real(8), intent(in) :: fine(2 * m, 2 * m, 2 * m)
    real(8), intent(out) :: coarse(m, m, m)
    integer :: i, j, k
    do k = 1, m
      do j = 1, m
        do i = 1, m
          coarse(i, j, k) = 0.5d0 * (fine(2 * i - 1, 2 * j, 2 * k) + fine(2 * i, 2 * j, 2 * k))
        end do
      end do
    end do
  end subroutine

  subroutine finer(m, coarse, fine)
    integer, intent(in) :: m
    real(8), intent(in) :: coarse(m, m, m)
    real(8), intent(inout) :: fine(2 * m, 2 * m, 2 * m)
    integer :: i, j, k
    do k = 1, 2 * m
      do j = 1, 2 * m
        do i = 1, 2 * m
          fine(i, j, k) = fine(i, j, k) + 0.3d0 * coarse((i + 1) / 2, (j + 1) / 2, (k + 1) / 2)
        end do
      end do
    end do
  end subroutine
end module

program mgrid
  use grids
  implicit none
  integer :: cycle, level, at(levels), size(levels), i
  at(1) = 1
  size(1) = n
  do level = 2, levels
    at(level) = at(level - 1) + size(level - 1)**3
    size(level) = size(level - 1) / 2
  end do
  do i = 1, n**3
    v(i) = mod(i * 17, 101) * 0.01d0 - 0.5d0
  end do
  do cycle = 1, cycles
    call residual(n, u, v, r)
    do level = 2, levels
      call coarser(size(level), r(at(level - 1)), r(at(level)))
    end do
    do level = levels, 2, -1
      call smooth(size(level), r(at(level)), u(at(level)))
      call finer(size(level), u(at(level)), u(at(level - 1)))
    end do
    call residual(n, u, v, r)
    call smooth(n, r, u)
  end do
  print '(2es16.8)', sum(u), sum(r)
end program
