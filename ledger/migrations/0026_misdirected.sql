-- A transfer that came in on another network than its address was issued on waits for an operator: no merchant's
-- books take it in, as nothing on that network is swept from there. `issuedOn` marks it, and it stays quarantined.
ALTER TABLE book.inbox ADD CONSTRAINT inbox_of_other_network_waits
  CHECK (quarantine IS NOT NULL OR NOT data ? 'issuedOn');
