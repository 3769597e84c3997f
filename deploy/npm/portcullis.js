#!/usr/bin/env node
// Runs the binary of the package for this platform, and passes signals and the exit code on.

"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const platform = `${process.platform}-${process.arch}`;

let binary;
try {
  binary = require.resolve(`portcullis-${platform}/bin/portcullis`);
} catch {
  console.error(
    `portcullis: the package portcullis-${platform} is not installed. Supported: linux-x64, linux-arm64. ` +
      "If this is your platform, install without --omit=optional.",
  );
  process.exit(1);
}

const child = spawn(binary, process.argv.slice(2), { stdio: "inherit" });

// Ctrl-C reaches the child too, through the terminal. It must end first, so the launcher only waits.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}

child.on("error", (error) => {
  console.error(`portcullis: cannot run ${binary}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  // A shell reports a signal as 128 and its number.
  process.exit(code ?? 128 + constants.signals[signal]);
});
