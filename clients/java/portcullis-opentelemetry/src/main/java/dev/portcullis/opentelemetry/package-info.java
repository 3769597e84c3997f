/** Spans and a histogram of the calls of a Portcullis client. */
@NullMarked
package dev.portcullis.opentelemetry;

import org.jspecify.annotations.NullMarked;
