/** Doubles for tests: a fake in memory, and the real service on a folder. */
@NullMarked
package dev.portcullis.test;

import org.jspecify.annotations.NullMarked;
