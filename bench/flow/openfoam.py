# SPDX-License-Identifier: BSD-2-Clause
"""The same flow for OpenFOAM's simpleFoam: mesh, fields, settings, and a run with its times and drags."""
import itertools
import os
import re
import shutil
import subprocess

import measure
import meshes

HEIGHT = 0.41
ETC = "/usr/share/openfoam"  # where Debian keeps its etc/controlDict
ENVIRONMENT = {"WM_PROJECT_DIR": ETC, "FOAM_SIGFPE": "false"}
MAX_ITERATIONS = 20000

# What a variant may set. gradient: of velocity and pressure; u: relaxation of the momentum equations; the linear
# solvers with their relative tolerances. Against GAMG to 0.05 and symGaussSeidel to 0.1 these save a quarter to a half.
DEFAULTS = {"gradient": "leastSquares", "u": 0.95, "pressure": "GAMG", "p_tolerance": 0.2,
            "momentum": "PBiCGStab", "u_tolerance": 0.01}


def name(variant):
    v = {**DEFAULTS, **variant}
    return f"gradients {v['gradient']}, U {v['u']}, p {v['pressure']} to {v['p_tolerance']}, {v['momentum']} to {v['u_tolerance']}"


def install():
    """./dev bench installs what the bench alone needs."""
    if shutil.which("simpleFoam"):
        return
    sudo = [] if os.getuid() == 0 else ["sudo"]
    print("installing openfoam", flush=True)
    for command in (["apt-get", "update"],
                    ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "--no-install-recommends",
                     "openfoam"]):
        done = subprocess.run(sudo + command, capture_output=True, text=True)
        if done.returncode:
            raise measure.Failed(f"openfoam could not be installed: {done.stderr.strip()[-500:]}")


def header(kind, thing):
    return f"FoamFile {{ version 2.0; format ascii; class {kind}; object {thing}; }}\n"


def write(folder, path, kind, text):
    path = os.path.join(folder, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(header(kind, os.path.basename(path)) + text)


def tool(folder, *command):
    with open(os.path.join(folder, command[0] + ".log"), "w") as log:
        done = subprocess.run(command, cwd=folder, env={**os.environ, **ENVIRONMENT}, stdout=log,
                              stderr=subprocess.STDOUT)
    if done.returncode:
        raise measure.Failed(f"{command[0]} failed; see {log.name}")


# ------------------------------------------------------------------ settings

def write_settings(folder, dim, variant, iterations):
    v = {**DEFAULTS, **variant}
    area = 0.1 * (meshes.THICKNESS if dim == 2 else HEIGHT)
    write(folder, "system/controlDict", "dictionary", f"""
application simpleFoam; startFrom startTime; startTime 0; stopAt endTime; endTime {iterations}; deltaT 1;
writeControl timeStep; writeInterval 100000000; writeFormat ascii; writePrecision 17; timeFormat general;
runTimeModifiable false;
functions {{
  forces {{
    type forceCoeffs; libs (forces); patches (cylinder); rho rhoInf; rhoInf 1; magUInf 0.2; lRef 0.1; Aref {area:.17g};
    dragDir (1 0 0); liftDir (0 1 0); CofR (0.2 0.2 0); pitchAxis (0 0 1); writePrecision 12; log false;
    executeControl timeStep; executeInterval 1; writeControl timeStep; writeInterval 1;
  }}
}}
""")
    write(folder, "system/fvSchemes", "dictionary", f"""
ddtSchemes {{ default steadyState; }}
gradSchemes {{ default {v['gradient']}; }}
divSchemes {{
  default none; div(phi,U) bounded Gauss linear; div((nuEff*dev2(T(grad(U))))) Gauss linear;
}}
laplacianSchemes {{ default Gauss linear corrected; }}
interpolationSchemes {{ default linear; }}
snGradSchemes {{ default corrected; }}
""")
    pressure = {"GAMG": "solver GAMG; smoother GaussSeidel;", "PCG": "solver PCG; preconditioner DIC;"}[v["pressure"]]
    momentum = {"symGaussSeidel": "solver smoothSolver; smoother symGaussSeidel;",
                "PBiCGStab": "solver PBiCGStab; preconditioner DILU;"}[v["momentum"]]
    write(folder, "system/fvSolution", "dictionary", f"""
solvers {{
  p {{ {pressure} tolerance 1e-15; relTol {v['p_tolerance']}; }}
  U {{ {momentum} tolerance 1e-15; relTol {v['u_tolerance']}; }}
}}
SIMPLE {{ consistent yes; nNonOrthogonalCorrectors 0; }}
relaxationFactors {{ fields {{ p 1; }} equations {{ U {v['u']}; }} }}
""")


# ------------------------------------------------------------ mesh and fields

def name_sides(path, dim):
    """Types of the boundaries: gmshToFoam calls all of them patches, and what has no name defaultFaces."""
    with open(path) as f:
        text = f.read()
    kinds = {"walls": "wall", "cylinder": "wall", "defaultFaces": "empty"}
    for side, kind in kinds.items():
        text = re.sub(r"(\b%s\s*\{[^}]*?\btype\s+)\w+;" % side, r"\g<1>%s;" % kind, text)
        text = re.sub(r"(\b%s\s*\{[^}]*?)physicalType\s+\w+;" % side, r"\g<1>", text)
    if dim == 3 and re.search(r"defaultFaces\s*\{[^}]*nFaces\s+[1-9]", text):
        raise measure.Failed(f"{path}: sides without a name")
    with open(path, "w") as f:
        f.write(text)


def entries(path):
    """The entries of a list in an ASCII file of OpenFOAM, each a list of its numbers as text."""
    with open(path) as f:
        for line in f:
            if line.strip() == "(":
                break
        for line in f:
            if line.strip() == ")":
                return
            yield re.split(r"[()\s]+", line.strip().rstrip(")"))


def side_faces(folder, side):
    """Corner points (y, z) of the faces of a boundary, in the order of the mesh."""
    mesh = os.path.join(folder, "constant/polyMesh")
    with open(os.path.join(mesh, "boundary")) as f:
        block = re.search(r"\b%s\s*\{([^}]*)\}" % side, f.read()).group(1)
    count, start = (int(re.search(key + r"\s+(\d+)", block).group(1)) for key in ("nFaces", "startFace"))
    faces = [[int(p) for p in words[1:] if p]
             for words in itertools.islice(entries(os.path.join(mesh, "faces")), start, start + count)]
    wanted = {p for face in faces for p in face}
    points = {i: (float(words[2]), float(words[3]))
              for i, words in enumerate(entries(os.path.join(mesh, "points"))) if i in wanted}
    return [[points[p] for p in face] for face in faces]


# A rule of degree 4 on a triangle with six points: (weight, coordinate of each of three points).
TRIANGLE = ((0.223381589678011, 0.108103018168070), (0.109951743655322, 0.816847572980459))


def mean_on_triangle(function, corners):
    total = 0.0
    for weight, a in TRIANGLE:
        b = (1 - a) / 2
        for i in range(3):
            k = [b, b, b]
            k[i] = a
            total += weight * function(*(sum(k[j] * corners[j][d] for j in range(3)) for d in (0, 1)))
    return total


def inlet_velocity(face, dim):
    """Mean of the inlet's parabola over a face, exact."""
    if dim == 2:
        low, high = min(p[0] for p in face), max(p[0] for p in face)
        speed = [4 * 0.3 * y * (HEIGHT - y) / HEIGHT**2 for y in (low, (low + high) / 2, high)]
        return (speed[0] + 4 * speed[1] + speed[2]) / 6
    if len(face) != 3:
        raise measure.Failed("the inlet has faces other than triangles")
    return mean_on_triangle(
        lambda y, z: 16 * 0.45 * y * z * (HEIGHT - y) * (HEIGHT - z) / HEIGHT**4, face)


def write_fields(folder, dim):
    inlet = "\n".join(f"({inlet_velocity(face, dim):.17g} 0 0)" for face in (side_faces(folder, "inlet")))
    count = inlet.count("\n") + 1
    layer = "defaultFaces { type empty; }" if dim == 2 else ""
    write(folder, "0/U", "volVectorField", f"""
dimensions [0 1 -1 0 0 0 0]; internalField uniform (0.2 0 0);
boundaryField {{
  inlet {{ type fixedValue; value nonuniform List<vector> {count} ({inlet}); }}
  outlet {{ type zeroGradient; }}
  walls {{ type noSlip; }} cylinder {{ type noSlip; }} {layer}
}}
""")
    write(folder, "0/p", "volScalarField", f"""
dimensions [0 2 -2 0 0 0 0]; internalField uniform 0;
boundaryField {{
  inlet {{ type zeroGradient; }} outlet {{ type fixedValue; value uniform 0; }}
  walls {{ type zeroGradient; }} cylinder {{ type zeroGradient; }} {layer}
}}
""")
    write(folder, "constant/transportProperties", "dictionary",
          "transportModel Newtonian; nu [0 2 -1 0 0 0 0] 1e-3;\n")
    write(folder, "constant/turbulenceProperties", "dictionary", "simulationType laminar;\n")


def prepare(mesh_folder, dim):
    """The case of a mesh, made once and kept: cells renumbered by Cuthill-McKee, as pcsim does for itself."""
    folder = os.path.join(mesh_folder, "openfoam")
    source, mark = os.path.join(mesh_folder, "mesh.msh"), os.path.join(folder, "made")
    if os.path.exists(mark) and os.path.getmtime(mark) >= os.path.getmtime(source):
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    write_settings(folder, dim, {}, 1)
    given = source
    if dim == 2:
        given = os.path.join(folder, "extruded.msh")
        meshes.extrude(source, given)
    tool(folder, "gmshToFoam", os.path.relpath(given, folder))
    name_sides(os.path.join(folder, "constant/polyMesh/boundary"), dim)
    tool(folder, "renumberMesh", "-overwrite")
    write_fields(folder, dim)
    open(mark, "w").close()
    return folder


# ----------------------------------------------------------------------- runs

class Drags:
    """cd and cl of each iteration as simpleFoam writes them."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "postProcessing/forces/0/coefficient.dat")
        self.file, self.columns, self.rest = None, None, ""
        self.cd, self.cl = [], []

    def update(self):
        if not self.file:
            if not os.path.exists(self.path):
                return
            self.file = open(self.path)
        *whole, self.rest = (self.rest + self.file.read()).split("\n")
        for line in whole:
            if line.startswith("#"):
                self.columns = line[1:].split()
                continue
            row = dict(zip(self.columns, line.split()))
            self.cd.append(float(row["Cd"]))
            self.cl.append(float(row["Cl"]))


def run(folder, dim, variant, iterations=None):
    """Times are of the iterations alone: from 'Time =' to 'ExecutionTime =' of each, so that reading, the forces and
    all output stay out. Without `iterations` it goes on until the drag has converged."""
    write_settings(folder, dim, variant, iterations or MAX_ITERATIONS)
    shutil.rmtree(os.path.join(folder, "postProcessing"), ignore_errors=True)
    drags = Drags(folder)
    cpu_times, wall_times, began = [], [], None
    for line, cpu, wall, stop in measure.lines(["simpleFoam"], folder, ENVIRONMENT,
                                               os.path.join(folder, "simpleFoam.log")):
        if line.startswith("Time = "):
            began = cpu, wall
            if not iterations and len(cpu_times) % 10 == 0:
                drags.update()
                if measure.has_converged(drags.cd):
                    stop()
        elif line.startswith("ExecutionTime = ") and began:
            cpu_times.append(cpu - began[0])
            wall_times.append(wall - began[1])
    drags.update()
    if not iterations and not measure.has_converged(drags.cd):
        raise measure.Failed(f"simpleFoam ({name(variant)}): the drag has not settled in {len(cpu_times)} iterations")
    n = measure.settled_at(drags.cd) + 1 if not iterations else iterations
    return {"settled": n, "done": len(cpu_times), "cpu": sum(cpu_times[:n]), "wall": sum(wall_times[:n]),
            "cd": drags.cd[-1], "cl": drags.cl[-1], "variant": variant}


def extrapolate(folder, dim, variant, settled, sample=40):
    """A run of a few iterations and a stored number of iterations."""
    short = run(folder, dim, variant, min(sample, settled))
    factor = settled / short["done"]
    return {**short, "settled": settled, "cpu": short["cpu"] * factor, "wall": short["wall"] * factor,
            "cd": float("nan"), "cl": float("nan"), "extrapolated": True}
