-- Until now every level of access to a site let those push who may push at all. From now on it takes Write (R-C3): who could
-- push before still can.
update site_access
set level = 'Write'
from site, user_claim
where site.id = site_access.site_id
  and user_claim.account_id = site.account_id
  and user_claim.user_id = site_access.user_id
  and user_claim.claim_type in ('datapusher.standard', 'datapusher.custom')
  and lower(user_claim.claim_value) <> 'false'
  and site_access.level = 'Read';
