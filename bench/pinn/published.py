# SPDX-License-Identifier: BSD-2-Clause
"""The rows of PINNacle (Hao et al., arXiv 2306.08827v2, main table; protocol: 20,000 steps of Adam, one GPU) with the
best published relative L2 error of eleven methods, the best later one that is known (AdaBGDA, ICLR 2026; PELINE; as others
quote them), and the case here. Errors of several unknowns are pooled there; here the largest of them stands."""

CASES, HERE = "cases/pinn/", "bench/pinn/published/"

# row, best published (method), later, case or None, remark
ROWS = [
    ("Burgers 1d-C", 1.43e-2, "LAAF", 1.34e-2, CASES + "burgers",
     "against Cole-Hopf; the published reference is itself 1.33e-2 from it"),
    ("Burgers 2d-C", 2.60e-1, "LRA", None, None, "its start, a random field, is not published in usable form"),
    ("Poisson 2d-C", 1.23e-2, "NTK", 8.15e-3, CASES + "disks", "against a series; the published reference is 2.8e-5 from it"),
    ("Poisson 2d-CG", 1.43e-2, "NTK", 4.11e-3, HERE + "screened", ""),
    ("Poisson 3d-CG", 1.02e-1, "LRA", 5.67e-2, CASES + "poisson-balls", ""),
    ("Poisson 2d-MS", 5.90e-1, "MultiAdam", None, CASES + "blocks",
     "two of its 25 blocks, those with the largest jump, and continuous fluxes, which the row leaves out"),
    ("Heat 2d-VC", 2.12e-1, "LRA", None, None, "its coefficient, a random field, is not published in usable form"),
    ("Heat 2d-MS", 4.40e-2, "NTK", 1.40e-2, CASES + "heat-multiscale", ""),
    ("Heat 2d-CG", 2.39e-2, "LAAF", 1.58e-2, CASES + "heat-holes", ""),
    ("Heat 2d-LT", 9.99e-1, "several", 9.98e-1, HERE + "heat-long", ""),
    ("NS 2d-C", 3.60e-2, "LAAF", 2.35e-2, CASES + "cavity", ""),
    ("NS 2d-CG", 8.24e-2, "LAAF", None, HERE + "step", ""),
    ("NS 2d-LT", 9.95e-1, "gPINN", None, None,
     "not yet: a reference needs a force that varies in place and time in the solver's flow"),
    ("Wave 1d-C", 9.79e-2, "NTK", 1.63e-2, CASES + "wave", ""),
    ("Wave 2d-CG", 7.94e-1, "GAAF", None, None, "its coefficient is not published in usable form"),
    ("Wave 2d-MS", 9.82e-1, "vPINN", 9.37e-1, HERE + "wave-long-as-published",
     "as published: the reference does not satisfy the equation"),
    ("Wave 2d-MS, corrected", 9.82e-1, "vPINN", 9.37e-1, HERE + "wave-long", "an exact solution in place of the reference"),
    ("GS", 7.99e-2, "FBPINN", None, HERE + "gray-scott", "no condition is published for the boundary: no flux here"),
    ("KS", 9.57e-1, "LRA", 9.46e-1, CASES + "kuramoto-sivashinsky",
     "no condition is published for the boundary: periodic here; to t = 0.2 of 1"),
    ("PNd", 4.58e-4, "LRA", 1.31e-4, CASES + "poisson-5d", ""),
    ("HNd", 3.02e-1, "MultiAdam", 2.49e-4, HERE + "heat-ball-5d", ""),
    ("PInv", 1.96e-2, "vPINN", 1.53e-2, CASES + "inverse-poisson-as-published",
     "as published: the source belongs to another diffusivity"),
    ("PInv, corrected", 1.96e-2, "vPINN", 1.53e-2, CASES + "inverse-poisson", "the source that belongs to its solution"),
    ("HInv", 5.09e-2, "LRA", 3.77e-2, CASES + "inverse-heat", ""),
]
