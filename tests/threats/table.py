"""What bots, submissions and accidents could do, and what shows that they do not: the table of threats.

A row names tests (`file::test`), attacks of `arena selftest` (`attack: name`), or says why there is none (`none: why`).
"""

from __future__ import annotations

REFEREE, WORKER, TOURNAMENT, LOAD = "referee/test_", "worker/test_", "tournament/test_", "threats/test_load.py::"
FAULTS, STREAM, SERVICE = f"{WORKER}faults.py::", f"{REFEREE}stream.py::", f"{REFEREE}service.py::"
MISDEEDS = f"{FAULTS}test_who_misbehaves_forfeits_and_the_other_wins"
HARMLESS = f"{FAULTS}test_what_does_no_harm_is_not_punished"
HOSTILE = f"{LOAD}test_hostile_bots_change_nothing_between_honest_ones"
FORESIGHT, USAGE = "threats/test_foresight.py::", "sandbox/test_cpu_usage.py::"
ARCHIVES, MANIFESTS = "submission/test_archives.py::", "submission/test_manifests.py::"

THREATS: dict[str, tuple[str, ...]] = {
    "forks without end": ("attack: fork_without_end", HOSTILE),
    "threads without end": ("attack: start_threads_without_end", HOSTILE),
    "takes all memory, alone, slowly or in children": (
        "attack: take_all_memory",
        "attack: take_all_memory_slowly",
        "attack: take_all_memory_in_children",
        HOSTILE,
    ),
    "fills the disk": ("attack: fill_the_disk", HOSTILE, f"{LOAD}test_who_fills_the_disk_fills_none_of_it"),
    "nests folders without end": ("sandbox/test_run_folder.py::test_folders_may_be_nested_without_end",),
    "reads another bot's folder": ("attack: read_secrets", "attack: find_folders_of_others"),
    "reads the store, replays, keys": ("attack: read_secrets",),
    "another local user reads the store": (
        "ladder/test_home.py::test_a_new_home_is_made_closed",
        "ladder/test_home.py::test_an_open_home_is_closed_by_who_writes_next",
        "ladder/test_home.py::test_a_backup_is_closed",
    ),
    "a home of somebody else lies in wait": (
        "cli/test_homes.py::test_a_strangers_home_is_used_only_by_name",
        "cli/test_homes.py::test_the_owner_of_a_link_counts_too",
    ),
    "reaches the network": ("attack: reach_the_network", "attack: send_datagrams"),
    "reaches services of the machine": ("attack: reach_the_network",),
    "abstract, vsock and netlink sockets": (
        "attack: reach_abstract_sockets",
        "attack: open_strange_sockets",
        "attack: open_network_sockets",
    ),
    "takes what the kernel counts by user": (
        "attack: use_up_watches",
        "attack: use_up_pipes",
        "attack: use_up_signals",
        "sandbox/test_users.py::test_two_arenas_never_give_away_the_same_user",
    ),
    "takes what the machine has once for all": (
        "attack: take_huge_pages",
        "attack: take_asynchronous_events",
        "attack: attach_filters",
        "attack: open_terminals",
    ),
    "keeps every bot from starting": (f"{WORKER}control.py::test_where_the_control_does_not_start_no_bot_is_blamed",),
    "connects to another seat's socket": ("attack: reach_a_socket_of_others",),
    "guesses tokens": (MISDEEDS, f"{WORKER}bot.py::test_the_third_refused_stream_is_a_fault"),
    "answers for another seat": (f"{STREAM}test_a_choice_that_was_not_asked_is_rejected_in_words", MISDEEDS),
    "answers twice": (
        f"{STREAM}test_the_same_choice_again_is_ignored",
        f"{STREAM}test_a_different_choice_is_rejected_and_the_first_stands",
    ),
    "answers late": (
        f"{STREAM}test_a_late_answer_to_a_match_that_ended_is_dropped_and_not_counted",
        f"{REFEREE}table.py::test_an_answer_after_its_time_forfeits_and_does_not_count",
    ),
    "answers just at the deadline": (
        f"{STREAM}test_an_answer_a_moment_late_is_late",
        f"{REFEREE}limits.py::test_a_bank_may_be_used_up_but_not_overdrawn",
    ),
    "sends a huge message": (MISDEEDS, f"{STREAM}test_a_frame_that_is_too_long_is_not_even_read"),
    "sends huge headers": (f"{SERVICE}test_huge_headers_are_refused",),
    "floods with messages": (MISDEEDS, f"{STREAM}test_messages_that_answer_nothing_are_a_flood_at_some_point"),
    "reads slowly or never": (f"{SERVICE}test_frames_do_not_pile_up_for_a_bot_that_does_not_read",),
    "speaks another protocol": (HOSTILE, f"{STREAM}test_no_bytes_at_all_raise"),
    "joins and never answers": (MISDEEDS,),
    "never joins": (MISDEEDS, f"{WORKER}worker.py::test_a_version_that_fails_to_start_is_not_tried_for_every_match"),
    "hangs at exit": (f"{FAULTS}test_a_bot_that_hangs_at_exit_holds_nobody_up", "attack: ignore_the_end"),
    "leaves processes behind": (f"{FAULTS}test_processes_left_behind_end_with_the_bot", "attack: stay_behind"),
    "leaves zombies": ("sandbox/test_process.py::test_orphans_that_have_ended_are_reaped",),
    "signals others": ("attack: signal_others",),
    "limits others, or moves them to another processor": ("attack: limit_others",),
    "traces others or reads their memory": ("attack: trace_others", "attack: read_memory_of_others"),
    "steals processors by threads": (
        f"{USAGE}test_work_is_paid_for",
        f"{USAGE}test_a_control_group_holds_a_bot_to_one_processor",
        HOSTILE,
    ),
    "buys time by waiting, children or hopping": (
        f"{USAGE}test_work_is_paid_for",
        f"{USAGE}test_children_that_end_unseen_are_paid_for",
        "attack: change_its_priority",
    ),
    "changes modes, times or attributes of files": (
        "attack: change_metadata",
        "sandbox/test_metadata.py::test_without_bubblewrap_every_call_that_changes_metadata_is_refused",
        "sandbox/test_users.py::test_a_build_changes_no_file_of_others",
    ),
    "empties files of others": ("attack: empty_files",),
    "leaves notes for its later processes": (
        "attack: leave_notes",
        "attack: link_files",
        "attack: change_settings",
        "attack: use_the_kernels_log",
        f"{FORESIGHT}test_no_process_finds_notes_in_files_where_a_sandbox_holds",
    ),
    "leaves notes in the times of its own files": (
        "attack: leave_notes_in_times",
        "sandbox/test_metadata.py::test_who_reads_a_program_leaves_no_trace",
    ),
    "watches what others read": (
        "attack: watch_files",
        "attack: see_what_is_cached",
        "attack: change_what_is_cached",
    ),
    "tells others by the load of the machine": ("attack: read_counters_of_the_machine", "attack: watch_the_load"),
    "tells others by names of sockets": ("attack: find_abstract_names_taken",),
    "sees what is hidden": (
        f"{REFEREE}table.py::test_nobody_sees_a_step_before_all_choices_are_in",
        f"{REFEREE}table.py::test_what_others_chose_changes_nothing_that_is_sent_before_all_are_in",
        "games/test_contract.py::test_views_survive_the_wire",
    ),
    "archives that write elsewhere": (
        f"{ARCHIVES}test_names_in_an_archive_are_plain",
        f"{ARCHIVES}test_an_archive_holds_ordinary_files",
        f"{ARCHIVES}test_nothing_runs_as_another_user",
        f"{ARCHIVES}test_bombs_are_counted_while_they_inflate",
    ),
    "a program changed after its check": (
        "submission/test_builds.py::test_a_stored_program_that_was_changed_plays_no_more",
    ),
    "builds without end or measure": (
        "submission/test_builds.py::test_a_build_has_an_end",
        "submission/test_builds.py::test_a_build_may_not_fill_the_disk",
        "submission/test_builds.py::test_a_build_leaves_room_on_the_disk",
        "submission/test_builds.py::test_what_a_build_leaves_running_ends_with_it",
        "submission/test_builds.py::test_what_a_killed_build_leaves_is_swept",
    ),
    "folders that are taken for the arena's own": (
        "submission/test_builds.py::test_what_a_build_has_for_itself_is_not_in_its_folder",
        "submission/test_builds.py::test_a_link_for_a_home_leads_nobody_out",
    ),
    "asks for more of the machine than is allowed": (
        "sandbox/test_wishes.py::test_who_wishes_for_more_than_is_allowed_is_refused",
        "sandbox/test_wishes.py::test_a_ladder_refuses_a_stored_bot_that_wishes_for_more",
        "sandbox/test_wishes.py::test_an_interrupted_leg_is_looked_through_before_it_goes_on",
        "sandbox/test_wishes.py::test_what_is_allowed_binds_who_wished_for_nothing",
    ),
    "malicious manifests": (
        f"{MANIFESTS}test_a_bad_manifest_is_refused_with_its_reason",
        "submission/test_builds.py::test_no_shell_reads_a_command",
    ),
    "escape sequences": ("cli/test_output.py::test_what_could_move_the_cursor_is_escaped",),
    "scripts in pages": ("none: there are no pages yet",),
    "SQL and formulas in names": (
        "ladder/test_bots.py::test_a_name_that_would_need_quoting_is_refused",
        "test_data.py::test_no_text_is_taken_for_a_formula",
    ),
    "an archive that names itself like somebody's bot": (
        f"{TOURNAMENT}claims.py::test_an_archive_with_the_name_of_a_bot_is_refused",
        f"{TOURNAMENT}claims.py::test_on_a_terminal_it_is_asked",
    ),
    "a hand-in with the name of somebody else's bot": (
        "roster/test_many.py::test_of_two_with_one_name_the_second_is_refused",
        "roster/test_many.py::test_what_comes_from_elsewhere_is_no_version_by_accident",
    ),
    "another build's result in place of one's own": (
        "submission/test_results.py::test_whatever_changed_is_built",
        "submission/test_results.py::test_what_an_older_build_left_in_its_home_is_nobody_elses",
    ),
    "a package of an index under the SDK's name": (
        "sdk/test_packages.py::test_what_a_folder_wants",
        "sdk/test_packages.py::test_packages_that_hide_the_sdk_or_python_are_none",
    ),
    "names that look alike": (f"{MANIFESTS}test_names_that_look_alike_share_a_skeleton",),
    "prints without end": ("sandbox/test_process.py::test_a_flood_of_output_is_told", "attack: print_without_end"),
    "the arena stands still": (
        f"{LOAD}test_an_arena_that_was_stopped_judges_nobody",
        f"{STREAM}test_a_referee_that_slept_judges_nobody",
    ),
    "the arena is killed": (
        f"{TOURNAMENT}interruptions.py::test_an_arena_that_is_killed_takes_its_bots_along",
        f"{TOURNAMENT}kills.py::test_twenty_kills_change_nothing",
    ),
    "power is lost": ("ladder/test_database.py::test_what_is_stored_survives_a_power_cut",),
    "the disk is full": (f"{TOURNAMENT}full_disk.py::test_a_full_disk_stops_the_ladder_and_loses_nothing",),
    "two ladders at once": ("ladder/test_database.py::test_a_second_ladder_is_refused_at_once",),
    "two arenas at once": ("sandbox/test_run_folder.py::test_a_dead_run_is_swept_and_a_living_one_is_not",),
    "a damaged store": ("ladder/test_database.py::test_what_is_no_store_is_refused_and_left_alone",),
    "a damaged replay": ("replay/test_replays.py::test_a_replay_that_was_changed_is_refused",),
    "a busy machine": (
        f"{LOAD}test_under_foreign_load_nobody_forfeits_by_time",
        f"{LOAD}test_an_arena_that_loads_its_own_machine_takes_no_time_from_bots",
        f"{STREAM}test_where_the_machine_is_too_busy_nobody_loses",
    ),
    "the machine runs out of memory": ("attack: outlive_others_without_memory",),
    "floods with connections": (f"{SERVICE}test_connections_do_not_pile_up", HOSTILE),
    "uses up file descriptors": (
        "attack: open_files_without_end",
        f"{WORKER}worker.py::test_a_process_that_we_have_no_room_for_is_not_the_bots_fault",
    ),
    "crashes or leaves at once": (
        MISDEEDS,
        f"{WORKER}worker.py::test_two_that_leave_when_they_are_welcome_come_to_an_end",
    ),
    "chooses what is no choice": (MISDEEDS, f"{STREAM}test_no_bytes_at_all_raise"),
    "both fail": (
        f"{WORKER}worker.py::test_a_match_that_nobody_joined_is_void",
        f"{REFEREE}table.py::test_bots_that_vanish_in_one_step_tie",
    ),
    "a game that raises": (f"{WORKER}worker.py::test_rules_that_raise_void_their_match_and_no_other",),
    "a game that never ends a step": (
        "none: rules are code of whoever runs the arena, installed like the arena itself, and no bot's doing",
    ),
    "a version against itself": (
        f"{WORKER}worker.py::test_a_version_may_play_itself",
        "attack: find_folders_of_others",
    ),
    "tells who is watching": ("sandbox/test_seats.py::test_every_seat_finds_the_same_but_for_its_token_and_address",),
    "an operator who shares nothing": ("sandbox/test_seats.py::test_whoever_shares_nothing_shares_with_bots",),
    "namespaces, mounts, privileges": (
        "attack: make_namespaces",
        "attack: mount_file_systems",
        "attack: gain_privileges",
        "attack: use_kernel_back_doors",
    ),
    "raises its limits or priority": ("attack: raise_its_limits", "attack: change_its_priority"),
    "types into the terminal": ("attack: type_into_the_terminal",),
    "long and odd paths": (f"{SERVICE}test_the_path_of_a_socket_must_fit",),
    "a machine that offers little": (
        "sandbox/test_selftest.py::test_without_bubblewrap_landlock_holds",
        "sandbox/test_selftest.py::test_nobody_need_be_root",
        "sandbox/test_selftest.py::test_a_weaker_sandbox_than_required_is_refused",
    ),
    "plays with matches by failing as the arena does": (
        f"{WORKER}worker.py::test_a_bot_cannot_end_as_if_its_sandbox_had_failed",
        f"{WORKER}worker.py::test_a_sandbox_that_cannot_be_set_up_is_not_the_bots_fault",
    ),
    "strangers where nothing holds them": (
        "sandbox/test_strangers.py::test_what_came_as_an_archive_is_started_where_it_is_held",
        "sandbox/test_strangers.py::test_an_archive_is_refused_in_one_line_before_anything_of_it_runs",
    ),
    "signals and closed pipes": (f"{TOURNAMENT}interruptions.py::test_an_interrupted_ladder_goes_on",),
    "plays with ratings by ending itself": (
        f"{WORKER}batches.py::test_a_crash_among_many_matches_costs_only_the_match_it_happens_in_again",
    ),
    "two bots signal to each other": ("attack: signal_by_locks", "attack: share_memory"),
    "inherits what was left open": ("attack: inherit_secrets", "attack: inherit_files"),
    "changes its own program": ("attack: change_itself", "attack: write_anywhere"),
    "foresees dice": (
        f"{TOURNAMENT}ladder.py::test_memory_is_worth_nothing",
        f"{TOURNAMENT}phases.py::test_between_two_matches_on_one_seed_nobody_is_alive",
        f"{FORESIGHT}test_what_living_processes_tell_each_other_gains_nothing",
        f"{FORESIGHT}test_no_process_finds_notes_in_files_where_a_sandbox_holds",
    ),
    "tries the seeds of unrated matches through": (
        "cli/test_contract.py::test_a_seed_that_nobody_chose_cannot_be_found_by_trying",
    ),
}
