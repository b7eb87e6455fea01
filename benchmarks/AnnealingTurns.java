import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import upmsp.algorithm.constructive.SimpleConstructive;
import upmsp.algorithm.heuristic.SA;
import upmsp.algorithm.neighborhood.*;
import upmsp.model.Problem;
import upmsp.model.solution.Solution;

/**
 * Searches with the published program's classes whenever asked: its code stays warm, and another program takes turns.
 *
 * The argument is an instance file. Each line "seed iterations per-temperature families" is answered by a line
 * "makespan nanoseconds", of processor time of the searching thread.
 */
public class AnnealingTurns {

    public static void main(String[] arguments) throws Exception {
        Problem problem = new Problem(arguments[0]);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.trim().split(" ");
            List<String> families = Arrays.asList(words[3].split(","));
            search(problem, Long.parseLong(words[0]), Long.parseLong(words[1]), Integer.parseInt(words[2]), families);
        }
    }

    private static void search(Problem problem, long seed, long iterations, int perTemperature, List<String> families) {
        Random random = new Random(seed);
        SA annealing = new SA(problem, random, 0.96, 1.0, perTemperature);
        addMoves(annealing, problem, random, families);
        Solution start = SimpleConstructive.randomSolution(problem, random);
        long began = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        Solution best = annealing.run(start, Long.MAX_VALUE / 4, iterations, null, null);
        long took = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - began;
        System.out.println(best.getCost() + " " + took);
        System.out.flush();
    }

    private static void addMoves(SA annealing, Problem problem, Random random, List<String> families) {
        if (families.contains("shift")) {
            annealing.addMove(new Shift(problem, random, 1, true));
            annealing.addMove(new Shift(problem, random, 1, false));
            annealing.addMove(new ShiftSmart(problem, random, 1, true));
            annealing.addMove(new ShiftSmart(problem, random, 1, false));
        }
        if (families.contains("direct-swap")) {
            annealing.addMove(new SimpleSwap(problem, random, 1, true));
            annealing.addMove(new SimpleSwap(problem, random, 1, false));
            annealing.addMove(new SimpleSwapSmart(problem, random, 1, true));
            annealing.addMove(new SimpleSwapSmart(problem, random, 1, false));
        }
        if (families.contains("swap")) {
            annealing.addMove(new Swap(problem, random, 1, true));
            annealing.addMove(new Swap(problem, random, 1, false));
            annealing.addMove(new SwapSmart(problem, random, 1, true));
            annealing.addMove(new SwapSmart(problem, random, 1, false));
        }
        if (families.contains("switch")) {
            annealing.addMove(new Switch(problem, random, 1, true));
            annealing.addMove(new Switch(problem, random, 1, false));
            annealing.addMove(new SwitchSmart(problem, random, 1, true));
            annealing.addMove(new SwitchSmart(problem, random, 1, false));
        }
        if (families.contains("task-move")) {
            annealing.addMove(new TaskMove(problem, random, 1, true));
            annealing.addMove(new TaskMove(problem, random, 1, false));
            annealing.addMove(new TaskMoveSmart(problem, random, 1, true));
            annealing.addMove(new TaskMoveSmart(problem, random, 1, false));
        }
        if (families.contains("two-shift")) {
            annealing.addMove(new TwoShift(problem, random, 1, true));
            annealing.addMove(new TwoShift(problem, random, 1, false));
            annealing.addMove(new TwoShiftSmart(problem, random, 1, true));
            annealing.addMove(new TwoShiftSmart(problem, random, 1, false));
        }
    }
}
