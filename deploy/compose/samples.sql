-- The role that reads the sample database and can do nothing else. Without SAMPLES_PASSWORD it has no password, and
-- nobody can log in with it.
\getenv password READER_PASSWORD
CREATE ROLE reader LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT CONNECTION LIMIT 40 PASSWORD :'password';
ALTER ROLE reader SET default_transaction_read_only = on;
ALTER ROLE reader SET statement_timeout = '60s';
ALTER ROLE reader SET temp_file_limit = '1GB';
ALTER ROLE reader SET client_connection_check_interval = '1s';
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO reader;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO reader;
