/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of the database, as proftap-sqlite(7) has them. */
#ifndef TRACE_CODEC_SQLITE_SCHEMA_H
#define TRACE_CODEC_SQLITE_SCHEMA_H

#define SQLITE_SCHEMA_VERSION 1 /* user_version: another one for every change that breaks a query */

extern const char sqlite_schema_tables[];
/* When all rows are there: so that the file is written in one go. */
extern const char sqlite_schema_indexes[];

#endif
