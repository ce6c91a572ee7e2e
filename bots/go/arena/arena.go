// Package arena plays the matches that an arena sends to this process.
package arena

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"bot/arenav1"
)

// A Bot sits at one seat of one match.
type Bot interface {
	// Choose answers a decision with one of the legal actions, which are ascending.
	Choose(decision *arenav1.Decision, legal []uint32) uint32
}

const (
	protocol = 1
	// So many times in a decision's limit the referee is told what has been decided: it takes who is silent for stopped.
	pieces = 4
	// Every match has a Bot of its own, so one process may hold many.
	matches = 768
)

var (
	method   = "/arena.v1.RefereeService/Play"
	bothWays = &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}
)

// Run plays until the arena says goodbye; newBot is called for each match. It ends the process if something fails.
func Run(newBot func(*arenav1.MatchStart) Bot) {
	if err := play(os.Getenv("ARENA_ADDR"), newBot); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func play(address string, newBot func(*arenav1.MatchStart) Bot) error {
	if address == "" {
		return errors.New("the arena starts this bot: try `arena match . random --game buttons`")
	}
	conn, err := grpc.NewClient(address,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithNoProxy(),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)))
	if err != nil {
		return err
	}
	defer conn.Close()
	stream, err := conn.NewStream(context.Background(), bothWays, method)
	if err != nil {
		return broken(address, err)
	}
	return broken(address, answer(stream, newBot))
}

// answer gives every frame of decisions one frame of choices, or more if they take long.
func answer(stream grpc.ClientStream, newBot func(*arenav1.MatchStart) Bot) error {
	say := func(reply *arenav1.PlayRequest) error {
		// A stream that is over says why when it is read.
		if err := stream.SendMsg(reply); err != io.EOF {
			return err
		}
		return nil
	}
	if err := say(&arenav1.PlayRequest{Hello: hello()}); err != nil {
		return err
	}
	table := table{newBot: newBot, say: say, bots: map[uint32]Bot{}, piece: math.MaxInt64}
	for {
		frame := new(arenav1.PlayResponse)
		if err := stream.RecvMsg(frame); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := table.answer(frame); err != nil {
			return err
		}
		if frame.Goodbye != nil {
			return stream.CloseSend()
		}
	}
}

func hello() *arenav1.Hello {
	return &arenav1.Hello{
		Protocol: protocol,
		Token:    os.Getenv("ARENA_TOKEN"),
		Matches:  matches,
		Sdk:      runtime.Version(),
	}
}

func broken(address string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the arena at %s broke the stream off: %s", address, status.Convert(err).Message())
}
