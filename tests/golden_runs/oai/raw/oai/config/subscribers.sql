-- SPDX-License-Identifier: Apache-2.0
-- The SIMs that the core knows. Made by ccu from containers/core/subscribers.sql.j2.
-- `users` is what the AMF asks when AUSF and UDM are inside it; AuthenticationSubscription is what a UDR asks.
CREATE TABLE users (
  imsi varchar(15) NOT NULL,
  msisdn varchar(46) DEFAULT NULL,
  imei varchar(15) DEFAULT NULL,
  imei_sv varchar(2) DEFAULT NULL,
  ms_ps_status enum('PURGED','NOT_PURGED') DEFAULT 'PURGED',
  rau_tau_timer int unsigned DEFAULT 120,
  ue_ambr_ul bigint unsigned DEFAULT NULL,
  ue_ambr_dl bigint unsigned DEFAULT NULL,
  access_restriction int unsigned DEFAULT 60,
  mme_cap int unsigned DEFAULT NULL,
  mmeidentity_idmmeidentity int NOT NULL DEFAULT 0,
  `key` varbinary(16) NOT NULL,
  `RFSP-Index` smallint unsigned NOT NULL DEFAULT 1,
  urrp_mme tinyint(1) NOT NULL DEFAULT 0,
  sqn bigint unsigned NOT NULL,
  `rand` varbinary(16) NOT NULL,
  OPc varbinary(16) DEFAULT NULL,
  PRIMARY KEY (imsi, mmeidentity_idmmeidentity)
);
CREATE TABLE AuthenticationSubscription (
  ueid varchar(20) NOT NULL PRIMARY KEY,
  authenticationMethod varchar(25) NOT NULL,
  encPermanentKey varchar(50) DEFAULT NULL,
  protectionParameterId varchar(50) DEFAULT NULL,
  sequenceNumber json DEFAULT NULL,
  authenticationManagementField varchar(50) DEFAULT NULL,
  algorithmId varchar(50) DEFAULT NULL,
  encOpcKey varchar(50) DEFAULT NULL,
  encTopcKey varchar(50) DEFAULT NULL,
  vectorGenerationInHss tinyint(1) DEFAULT NULL,
  n5gcAuthMethod varchar(15) DEFAULT NULL,
  rgAuthenticationInd tinyint(1) DEFAULT NULL,
  supi varchar(20) DEFAULT NULL
);
INSERT INTO users (imsi, ue_ambr_ul, ue_ambr_dl, `key`, sqn, `rand`, OPc) VALUES
  ('208990100001100', 10000000000, 10000000000, 0xfec86ba6eb707ed08905757b1bb44b8f, 0, 0x00000000000000000000000000000000, 0xc42449363bbad02b66d16bc975d77cc1);
INSERT INTO AuthenticationSubscription (ueid, authenticationMethod, encPermanentKey, protectionParameterId,
  sequenceNumber, authenticationManagementField, algorithmId, encOpcKey, supi) VALUES
  ('208990100001100', '5G_AKA', 'fec86ba6eb707ed08905757b1bb44b8f', 'fec86ba6eb707ed08905757b1bb44b8f',
  '{"sqn": "000000000000", "sqnScheme": "NON_TIME_BASED", "lastIndexes": {"ausf": 0}}', '8000', 'milenage',
  'c42449363bbad02b66d16bc975d77cc1', '208990100001100');
INSERT INTO users (imsi, ue_ambr_ul, ue_ambr_dl, `key`, sqn, `rand`, OPc) VALUES
  ('208990100001101', 10000000000, 10000000000, 0xfec86ba6eb707ed08905757b1bb44b8f, 0, 0x00000000000000000000000000000000, 0xc42449363bbad02b66d16bc975d77cc1);
INSERT INTO AuthenticationSubscription (ueid, authenticationMethod, encPermanentKey, protectionParameterId,
  sequenceNumber, authenticationManagementField, algorithmId, encOpcKey, supi) VALUES
  ('208990100001101', '5G_AKA', 'fec86ba6eb707ed08905757b1bb44b8f', 'fec86ba6eb707ed08905757b1bb44b8f',
  '{"sqn": "000000000000", "sqnScheme": "NON_TIME_BASED", "lastIndexes": {"ausf": 0}}', '8000', 'milenage',
  'c42449363bbad02b66d16bc975d77cc1', '208990100001101');
