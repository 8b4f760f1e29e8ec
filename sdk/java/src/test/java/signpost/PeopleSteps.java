package signpost;

import static signpost.JourneySupport.all;
import static signpost.JourneySupport.check;
import static signpost.JourneySupport.mask;
import static signpost.JourneySupport.reasonOf;

import java.util.List;
import signpost.v1.*;

/** The steps of {@link Journey} about members and their sessions. */
final class PeopleSteps {
  private final Client client;
  private final String run;

  PeopleSteps(Client client, String run) {
    this.client = client;
    this.run = run;
  }

  /** Signs the workspace's administrator in, and changes what only a member may. */
  void signIn() {
    GetMyselfRequest asked = GetMyselfRequest.getDefaultInstance();
    try (Client own = new Client(System.getenv("SIGNPOST_URL"), JourneySupport.sessionToken())) {
      Member myself = own.members().getMyself(asked).getMember();
      check(myself.getEmail().equals(System.getenv("SIGNPOST_EMAIL")), myself);
      UpdateMyselfRequest.Builder named =
          UpdateMyselfRequest.newBuilder().setFirstName("Ada").setLastName("Lovelace");
      Member changed = own.members().updateMyself(named.build()).getMember();
      check(changed.getFirstName().equals("Ada") && changed.getLastName().equals("Lovelace"), changed);
      DismissAllowanceNoticeRequest.Builder notice =
          DismissAllowanceNoticeRequest.newBuilder().setKey(PlanLimitKey.PLAN_LIMIT_KEY_TRACKED_VISITS);
      own.allowances().dismiss(notice.build());
      check(own.grants().list(ListGrantsRequest.getDefaultInstance()).getGrantsCount() == 0, "grants");
      RevokeGrantRequest.Builder missing =
          RevokeGrantRequest.newBuilder().setId("01900000-0000-7000-8000-000000000000");
      String gone = reasonOf(() -> own.grants().revoke(missing.build()));
      check(gone.equals("NOT_FOUND"), gone);
    }
    String reason = reasonOf(() -> client.members().getMyself(asked));
    check(reason.equals("MEMBER_SESSION_REQUIRED"), reason);
  }

  /**
   * Invites a person, gives the person a role, takes all access away and gives it back; then deletes the person.
   */
  void invite() {
    var calls = client.members();
    String email = run + "@example.com";
    InviteMemberRequest.Builder wanted =
        InviteMemberRequest.newBuilder().setEmail(email).setFirstName("Grace");
    Member invited = calls.invite(wanted.build()).getMember();
    check(invited.getRole() == Member.Role.ROLE_VIEWER, invited);
    String id = invited.getId();
    ListMembersRequest asked = ListMembersRequest.newBuilder().setPageSize(1).build();
    List<Member> listed = all(calls::list, asked, ListMembersResponse::getMembersList);
    check(listed.size() == 2 && listed.get(0).getId().equals(id), listed);
    UpdateMemberRequest.Builder promotion =
        UpdateMemberRequest.newBuilder()
            .setId(id)
            .setRole(Member.Role.ROLE_TECH)
            .setFirstName("ignored")
            .setUpdateMask(mask("role"));
    calls.update(promotion.build());
    GetMemberRequest member = GetMemberRequest.newBuilder().setId(id).build();
    Member read = calls.get(member).getMember();
    check(read.getRole() == Member.Role.ROLE_TECH && read.getFirstName().equals("Grace"), read);
    check(read.getEmail().equals(email), read);
    RevokeMemberAccessRequest.Builder revocation = RevokeMemberAccessRequest.newBuilder().setId(id);
    check(calls.revokeAccess(revocation.build()).getMember().hasAccessRevokedAt(), id);
    AllowMemberAccessRequest.Builder permission = AllowMemberAccessRequest.newBuilder().setId(id);
    check(!calls.allowAccess(permission.build()).getMember().hasAccessRevokedAt(), id);
    calls.forceSignout(ForceMemberSignoutRequest.newBuilder().setId(id).build());
    calls.delete(DeleteMemberRequest.newBuilder().setId(id).build());
    String gone = reasonOf(() -> calls.get(member));
    check(gone.equals("NOT_FOUND"), gone);
  }
}
