# SPDX-License-Identifier: BSD-2-Clause
"""pvpython tests/validation/surface_drag.py RUN PATCH: opens RUN/surface.hdf and RUN/fields.hdf with ParaView's readers,
integrates pressure and wall shear over the boundary with that number in `patch` (numbers follow the names: channel with a cylinder 0), and
compares with forces.force.x of RUN/summary.json (0.1 %)."""
import json
import sys

from paraview.simple import VTKHDFReader
from paraview import servermanager

run, wanted = sys.argv[1], int(sys.argv[2])


def read(name):
    reader = VTKHDFReader(FileName=f"{run}/{name}")
    reader.UpdatePipeline()
    return servermanager.Fetch(reader)


fields = read("fields.hdf")
surface = read("surface.hdf")
data = surface.GetCellData()
names = [data.GetArrayName(i) for i in range(data.GetNumberOfArrays())]
print(f"fields.hdf: {fields.GetNumberOfCells()} cells; surface.hdf: {surface.GetNumberOfCells()} faces, {' '.join(names)}")
pressure, shear, area, normal, patch = (data.GetArray(n) for n in ("pressure", "shear", "area", "normal", "patch"))
with open(f"{run}/summary.json") as f:
    summary = json.load(f)
force = 0
for i in range(surface.GetNumberOfCells()):
    if int(patch.GetTuple1(i)) == wanted:
        force += area.GetTuple1(i) * (pressure.GetTuple1(i) * normal.GetTuple3(i)[0] + shear.GetTuple3(i)[0])
expected = summary["quantities"]["forces.force.x"]
error = abs(force / expected - 1)
print(f"force.x integrated {force:.10g}, monitor {expected:.10g}: {100 * error:.2g} %")
sys.exit(0 if error <= 1e-3 else 1)
