/** Asks the authorization service Portcullis. Begin with {@link dev.portcullis.client.Portcullis#builder()}. */
@NullMarked
package dev.portcullis.client;

import org.jspecify.annotations.NullMarked;
