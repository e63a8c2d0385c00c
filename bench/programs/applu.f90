! SPDX-License-Identifier: BSD-3-Clause
!
! In the manner of applu: a lower triangular sweep with 5 by 5 blocks. A, B, C and D hold
! the blocks of one plane and are made anew for each, RSD holds the whole grid.
module blocks
  implicit none
  integer, parameter :: n = 64, planes = 40, steps = 5
  real(8) :: a(5, 5, n, n), b(5, 5, n, n), c(5, 5, n, n), d(5, 5, n, n)
  real(8) :: rsd(5, n, n, planes)
contains
  subroutine make_blocks(k)
    integer, intent(in) :: k
    integer :: i, j, l, m
    real(8) :: w
    do j = 1, n
      do i = 1, n
        w = 1d-3 * rsd(1, i, j, k)
        do m = 1, 5
          do l = 1, 5
            a(l, m, i, j) = w * l
            b(l, m, i, j) = w * m
            c(l, m, i, j) = w * (l - m)
            d(l, m, i, j) = 1d-2 * (l + m) + w
          end do
        end do
      end do
    end do
  end subroutine

  subroutine sweep(k)
    integer, intent(in) :: k
    integer :: i, j, m
    real(8) :: t(5)
    do j = 2, n
      do i = 2, n
        t = rsd(:, i, j, k)
        do m = 1, 5
          t = t - 1d-2 * (a(:, m, i, j) * rsd(m, i, j, k - 1) + &
                          b(:, m, i, j) * rsd(m, i, j - 1, k) + &
                          c(:, m, i, j) * rsd(m, i - 1, j, k))
        end do
        do m = 1, 5
          rsd(m, i, j, k) = t(m) / (1 + sum(d(:, m, i, j)))
        end do
      end do
    end do
  end subroutine
end module

program applu
  use blocks
  implicit none
  integer :: k, step, i, j, m
  do k = 1, planes
    do j = 1, n
      do i = 1, n
        do m = 1, 5
          rsd(m, i, j, k) = sin(0.1d0 * (m + i)) + cos(0.1d0 * (j + k))
        end do
      end do
    end do
  end do
  do step = 1, steps
    do k = 2, planes
      call make_blocks(k)
      call sweep(k)
    end do
  end do
  print '(es16.8)', sum(rsd)
end program
