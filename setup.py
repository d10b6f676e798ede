"""The one step of the build that pyproject.toml cannot say: the wheel carries the built page as `agent/server/page`."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

BUILT_PAGE = Path(__file__).resolve().parent / "frontend" / "dist"


class BuildWithPage(build_py):
    """Copies the page where the server looks for it. Without a built page, the server has its API alone."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        target = Path(self.build_lib) / "agent" / "server" / "page"
        shutil.rmtree(target, ignore_errors=True)
        if (BUILT_PAGE / "index.html").is_file():
            shutil.copytree(BUILT_PAGE, target)
        else:
            sys.stderr.write("The page is not built (`make page`); this wheel has the API and the command line.\n")


setup(cmdclass={"build_py": BuildWithPage})
