/** What a jar of somebody else's may bring. */
@NullMarked
package com.example;

import org.jspecify.annotations.NullMarked;
